/** Texts of the import and export of documents. */
export const transferTexts = {
  couldNotExportDocuments: 'Could not export the documents',
  export: 'Export',
  csv: 'CSV, the columns shown',
  xlsx: 'XLSX, the columns shown',
  ndjson: 'NDJSON, whole documents',
  importDocuments: 'Import documents',
  file: 'File',
  fileHelp: 'CSV or XLSX with names of columns in the first line, or NDJSON: one JSON document per line.',
  chooseAFile: 'Choose a file',
  fileCannotRead: 'This file cannot be read',
  skipLinesRefused: 'Skip lines that are refused',
  skipLinesRefusedHelp: 'Without it, one such line refuses the whole file.',
  nothingWasImported: 'Nothing was imported',
  cancel: 'Cancel',
  import: 'Import',
  numbers: 'Numbers',
  importing: 'Importing',
  sent: (share: number, value: number) =>
    share < 1 ? `${value} % sent` : 'Sent. The server is storing it …',
  preview: 'Preview',
  /** Of CSV. */
  readAsCsv: (encoding: string, separator: string) =>
    `Read as CSV in ${encoding.toUpperCase()}, cells separated by ${separator === '\t' ? 'tabs' : separator}`,
  /** Of a workbook. */
  readAsSheet: (sheet: string, year: number) => `Sheet read: ${sheet}. Dates are counted from ${year}.`,
  line: 'Line',
  leftOut: '(not imported)',
  undone: (deleted: string, left: number, shown: string) =>
    `Undone: ${deleted} documents deleted${left > 0 ? `, ${shown} left, since they have changed` : ''}.`,
  imported: (imported: string, refused: number, shown: string) => {
    const lines = refused === 1 ? '1 line' : `${shown} lines`
    return `${imported} documents imported${refused > 0 ? `, ${lines} skipped` : ''}.`
  },
  couldNotUndoImport: 'Could not undo the import',
  undoTheImport: 'Undo the import',
  close: 'Close',
  refusedLines: 'Refused lines',
  field: 'Field',
  problem: 'Problem',
} as const
