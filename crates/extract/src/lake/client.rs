//! The clients of object stores, with the settings of the environment.

use std::env;
use std::path::Path;
use std::sync::Arc;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GcpCredential, GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::{ClientConfigKey, ObjectStore, RetryConfig, StaticCredentialProvider};

use crate::lake::place::Kind;
use crate::lake::{Error, Result};

/// Time of a request, with the 96 MiB of a large file on a slow line.
const TIMEOUT: &str = "300s";

/// The variables that have another time.
const S3_TIMEOUT: &str = "AWS_TIMEOUT";
const AZURE_TIMEOUT: &str = "AZURE_TIMEOUT";
const GOOGLE_TIMEOUT: &str = "GOOGLE_TIMEOUT";

/// Attempts after the first one. They take three seconds together, so that a wrong address is soon an
/// error.
const RETRIES: usize = 5;

/// Ways to get credentials of S3, each by the settings that name it. Without them, the client would look
/// for the service of a virtual machine that nobody has named.
const S3_CREDENTIALS: [&[AmazonS3ConfigKey]; 5] = [
    &[
        AmazonS3ConfigKey::AccessKeyId,
        AmazonS3ConfigKey::SecretAccessKey,
    ],
    &[
        AmazonS3ConfigKey::WebIdentityTokenFile,
        AmazonS3ConfigKey::RoleArn,
    ],
    &[AmazonS3ConfigKey::ContainerCredentialsRelativeUri],
    &[
        AmazonS3ConfigKey::ContainerCredentialsFullUri,
        AmazonS3ConfigKey::ContainerAuthorizationTokenFile,
    ],
    &[AmazonS3ConfigKey::MetadataEndpoint],
];

/// Ways to get credentials of Azure, in the same form.
const AZURE_CREDENTIALS: [&[AzureConfigKey]; 6] = [
    &[AzureConfigKey::Token],
    &[AzureConfigKey::AccessKey],
    &[
        AzureConfigKey::ClientId,
        AzureConfigKey::AuthorityId,
        AzureConfigKey::FederatedTokenFile,
    ],
    &[
        AzureConfigKey::ClientId,
        AzureConfigKey::AuthorityId,
        AzureConfigKey::ClientSecret,
    ],
    &[AzureConfigKey::SasKey],
    &[AzureConfigKey::MsiEndpoint],
];

/// Settings that stand for credentials of Azure: a public container, and a token from the program `az`.
const AZURE_SWITCHES: [AzureConfigKey; 2] =
    [AzureConfigKey::SkipSignature, AzureConfigKey::UseAzureCli];

/// Variables of the program `az` that this client does not read.
const AZURE_CLI: [(&str, AzureConfigKey); 2] = [
    ("AZURE_STORAGE_ACCOUNT", AzureConfigKey::AccountName),
    ("AZURE_STORAGE_KEY", AzureConfigKey::AccessKey),
];

/// Settings of Google that name credentials.
const GOOGLE_CREDENTIALS: [GoogleConfigKey; 3] = [
    GoogleConfigKey::ServiceAccount,
    GoogleConfigKey::ServiceAccountKey,
    GoogleConfigKey::ApplicationCredentials,
];

/// The variable with the address of the metadata service of Google. Without it, that service is not asked.
const GOOGLE_METADATA: &str = "GCE_METADATA_HOST";

/// The variable with the folder of the settings of programs, and the file there that the program `gcloud`
/// writes for others.
const GOOGLE_LOGIN: (&str, &str) = if cfg!(windows) {
    ("APPDATA", "gcloud/application_default_credentials.json")
} else {
    (
        "HOME",
        ".config/gcloud/application_default_credentials.json",
    )
};

/// Texts that mean yes.
const YES: [&str; 5] = ["1", "on", "true", "y", "yes"];

/// The form of an address.
pub(crate) const fn address(kind: Kind) -> &'static str {
    match kind {
        Kind::S3 => "s3://BUCKET/FOLDER",
        Kind::Azure => "az://CONTAINER/FOLDER",
        Kind::Google => "gs://BUCKET/FOLDER",
    }
}

/// Opens a bucket. Nothing is asked yet.
pub(crate) fn open(path: &Path, kind: Kind, bucket: &str) -> Result<Arc<dyn ObjectStore>> {
    match kind {
        Kind::S3 => s3(path, bucket),
        Kind::Azure => azure(path, bucket),
        Kind::Google => google(path, bucket),
    }
}

fn s3(path: &Path, bucket: &str) -> Result<Arc<dyn ObjectStore>> {
    let mut builder = AmazonS3Builder::from_env();
    let has = |key: &AmazonS3ConfigKey| builder.get_config_value(key).is_some();
    let has_credentials = S3_CREDENTIALS.iter().any(|keys| keys.iter().all(has));
    let is_public = builder.get_config_value(&AmazonS3ConfigKey::SkipSignature);
    if !has_credentials && !is_yes(is_public) {
        return Err(Error::NoCredentials {
            path: path.to_owned(),
            hint: "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_SKIP_SIGNATURE=true for a \
                   public bucket",
        });
    }
    if env::var_os(S3_TIMEOUT).is_none() {
        let key = AmazonS3ConfigKey::Client(ClientConfigKey::Timeout);
        builder = builder.with_config(key, TIMEOUT);
    }
    let store = builder.with_retry(retry()).with_bucket_name(bucket).build();
    built(path, "AWS_", store)
}

fn azure(path: &Path, container: &str) -> Result<Arc<dyn ObjectStore>> {
    let mut builder = MicrosoftAzureBuilder::from_env();
    for (variable, key) in AZURE_CLI {
        let is_missing = builder.get_config_value(&key).is_none();
        if let Some(value) = env::var(variable).ok().filter(|_| is_missing) {
            builder = builder.with_config(key, value);
        }
    }
    if !has_azure_credentials(&builder) {
        return Err(Error::NoCredentials {
            path: path.to_owned(),
            hint: "set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY, or with the name also \
                   AZURE_SKIP_SIGNATURE=true for a public container",
        });
    }
    if env::var_os(AZURE_TIMEOUT).is_none() {
        let key = AzureConfigKey::Client(ClientConfigKey::Timeout);
        builder = builder.with_config(key, TIMEOUT);
    }
    let builder = builder.with_retry(retry());
    let store = builder.with_container_name(container).build();
    built(path, "AZURE_", store)
}

/// Returns `true` if the account is named, and how to get into it. The emulator has an account of its own.
fn has_azure_credentials(builder: &MicrosoftAzureBuilder) -> bool {
    let value = |key: &AzureConfigKey| builder.get_config_value(key);
    if is_yes(value(&AzureConfigKey::UseEmulator)) {
        return true;
    }
    let has = |key: &AzureConfigKey| value(key).is_some();
    let is_named = AZURE_CREDENTIALS.iter().any(|keys| keys.iter().all(has));
    let is_switched = AZURE_SWITCHES.iter().any(|key| is_yes(value(key)));
    has(&AzureConfigKey::AccountName) && (is_named || is_switched)
}

fn google(path: &Path, bucket: &str) -> Result<Arc<dyn ObjectStore>> {
    let mut builder = GoogleCloudStorageBuilder::from_env();
    let is_public = is_yes(builder.get_config_value(&GoogleConfigKey::SkipSignature));
    if !is_public && !has_google_credentials(&builder) {
        return Err(Error::NoCredentials {
            path: path.to_owned(),
            hint: "set GOOGLE_APPLICATION_CREDENTIALS to the file of a service account, or \
                   GOOGLE_SKIP_SIGNATURE=true for a public bucket",
        });
    }
    if is_public {
        // A write looks for credentials nevertheless, in the end at the metadata service.
        let nobody = GcpCredential {
            bearer: String::new(),
        };
        builder = builder.with_credentials(Arc::new(StaticCredentialProvider::new(nobody)));
    }
    if env::var_os(GOOGLE_TIMEOUT).is_none() {
        let key = GoogleConfigKey::Client(ClientConfigKey::Timeout);
        builder = builder.with_config(key, TIMEOUT);
    }
    let store = builder.with_retry(retry()).with_bucket_name(bucket).build();
    built(path, "GOOGLE_", store)
}

/// Returns `true` if a variable, or the login of the program `gcloud`, leads to credentials.
fn has_google_credentials(builder: &GoogleCloudStorageBuilder) -> bool {
    let has = |key: &GoogleConfigKey| builder.get_config_value(key).is_some();
    let (folder, file) = GOOGLE_LOGIN;
    let is_logged_in =
        || env::var_os(folder).is_some_and(|home| Path::new(&home).join(file).exists());
    GOOGLE_CREDENTIALS.iter().any(has) || env::var_os(GOOGLE_METADATA).is_some() || is_logged_in()
}

fn is_yes(value: Option<String>) -> bool {
    value.is_some_and(|value| YES.contains(&value.to_lowercase().as_str()))
}

fn retry() -> RetryConfig {
    RetryConfig {
        max_retries: RETRIES,
        ..RetryConfig::default()
    }
}

fn built(
    path: &Path,
    variables: &str,
    store: object_store::Result<impl ObjectStore>,
) -> Result<Arc<dyn ObjectStore>> {
    let store = store.map_err(|source| Error::Bucket {
        path: path.to_owned(),
        expected: format!("settings of a store in the variables {variables}…"),
        source: Some(Box::new(source)),
    })?;
    Ok(Arc::new(store))
}
