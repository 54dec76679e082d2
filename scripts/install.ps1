# Installs etwkit for this user: downloads the archive for Windows, checks its sum, and unpacks it.
#
#   powershell -ExecutionPolicy Bypass -File install.ps1 [-To FOLDER]
#
# The program goes to FOLDER, or to %LOCALAPPDATA%\Programs\etwkit, which is added to the user's PATH. ETWKIT_RELEASES_URL names other releases
# than those that this file came with, ETWKIT_VERSION another version.
param([string]$To = (Join-Path $env:LOCALAPPDATA 'Programs\etwkit'))
$ErrorActionPreference = 'Stop'
Set-StrictMode -Version Latest

function Stop-Install([string]$Message) {
    [Console]::Error.WriteLine("error: $Message")
    exit 2
}

$releases = if ($env:ETWKIT_RELEASES_URL) { $env:ETWKIT_RELEASES_URL } else { '@RELEASES@' }
$version = if ($env:ETWKIT_VERSION) { $env:ETWKIT_VERSION } else { '@VERSION@' }
if (-not $releases) { Stop-Install 'this installer knows no releases; set ETWKIT_RELEASES_URL to where they are' }
if (-not [Environment]::Is64BitOperatingSystem) { Stop-Install 'there is no archive for 32-bit Windows' }

$triple = 'x86_64-pc-windows-msvc'
$name = "etwkit-$version-$triple"
$work = Join-Path ([IO.Path]::GetTempPath()) ([Guid]::NewGuid())
New-Item -ItemType Directory -Path $work | Out-Null
try {
    # Old systems do not offer TLS 1.2 by themselves.
    [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12
    $ProgressPreference = 'SilentlyContinue'
    foreach ($file in "$name.zip", "SHA256SUMS-$triple") {
        try { Invoke-WebRequest -UseBasicParsing -Uri "$releases/download/v$version/$file" -OutFile (Join-Path $work $file) }
        catch { Stop-Install "cannot download $releases/download/v$version/${file}: $_" }
    }
    $pattern = '^([0-9a-f]{64}) [ *]' + [Regex]::Escape("$name.zip") + '$'
    $line = Get-Content (Join-Path $work "SHA256SUMS-$triple") | Where-Object { $_ -match $pattern } | Select-Object -First 1
    $found = (Get-FileHash -Algorithm SHA256 (Join-Path $work "$name.zip")).Hash
    if (-not $line -or $line.Substring(0, 64) -ne $found) { Stop-Install "the checksum of $name.zip is wrong; nothing was installed" }

    Expand-Archive -Path (Join-Path $work "$name.zip") -DestinationPath $work
    New-Item -ItemType Directory -Force -Path $To | Out-Null
    Copy-Item -Force (Join-Path $work "$name\etwkit.exe") $To
}
finally {
    Remove-Item -Recurse -Force $work
}

& (Join-Path $To 'etwkit.exe') --version
Write-Output "Installed $(Join-Path $To 'etwkit.exe')"
$path = [Environment]::GetEnvironmentVariable('Path', 'User')
if (($path -split ';') -notcontains $To) {
    [Environment]::SetEnvironmentVariable('Path', ($path.TrimEnd(';') + ";$To").TrimStart(';'), 'User')
    Write-Output 'Open a new window, so that it is found by its name'
}
