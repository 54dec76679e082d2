// Files that the reader saves or chooses.

/** Gives the reader a file. */
export function saveText(name: string, text: string, type: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** Asks the reader for a file with one of these endings. Nothing happens without one. */
export function chooseFile(endings: string, take: (file: File) => void): void {
  const input = document.createElement("input");
  input.type = "file";
  input.accept = endings;
  input.addEventListener("change", () => {
    const file = input.files?.[0];
    if (file !== undefined) take(file);
  });
  input.click();
}
