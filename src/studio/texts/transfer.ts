/** Texts of the import and export of documents. */
export const transferTexts = {
  couldNotExportDocuments: 'Could not export the documents',
  export: 'Export',
  csv: 'CSV, the columns shown',
  xlsx: 'XLSX, the columns shown',
  ndjson: 'NDJSON, whole documents',
  importDocuments: 'Import documents',
  file: 'File',
  fileHelp: 'CSV or XLSX with names of columns in a line, or NDJSON: one JSON document per line.',
  chooseAFile: 'Choose a file',
  fileCannotRead: 'This file cannot be read',
  skipLinesRefused: 'Skip lines that are refused',
  skipLinesRefusedHelp:
    'Without it, one such line refuses the whole file. Either way refused lines are shown, to be mended.',
  nothingWasImported: 'Nothing was imported',
  cancel: 'Cancel',
  import: 'Import',
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
  imported: (shown: string, count: number) => `${shown} ${count === 1 ? 'document' : 'documents'} imported.`,
  couldNotUndoImport: 'Could not undo the import',
  undoTheImport: 'Undo the import',
  close: 'Close',
  refusedLines: 'Refused lines',
  sheet: 'Sheet',
  lineOfNames: 'Line with the names',
  unnamedColumn: (number: number) => `Column ${number}, no name`,
  mustBeEmpty: '(must be empty)',
  chooseFormat: 'Choose …',
  chooseFormats: (columns: string) => `Choose how to read ${columns}.`,
  formatOf: (column: string) => `Format of ${column}`,
  formats: {
    point: '1,234.5',
    comma: '1.234,5',
    dmy: 'day/month/year',
    mdy: 'month/day/year',
    ymd: 'year/month/day',
  },
  /** What a format makes of one of the texts. */
  reading: (sample: string, value: string | undefined) => `${sample} → ${value ?? 'cannot be read'}`,
  nothingYet: (shown: string, count: number) =>
    count === 1
      ? 'Nothing was imported: 1 line is refused.'
      : `Nothing was imported: ${shown} lines are refused.`,
  someImported: (imported: string, made: number, shown: string, count: number) =>
    `${imported} ${made === 1 ? 'document' : 'documents'} imported. ${count === 1 ? '1 line is' : `${shown} lines are`} not imported yet.`,
  leftOutLines: (shown: string, lines: string) => `All ${shown} lines that are not imported: ${lines}`,
  wrongLinesHelp: (file: string) =>
    `Only the lines that you change are sent again. Those of ${file} stay here until you dismiss them.`,
  tooManyWrong:
    'More than the first 1,000 lines may be refused. Go back and check how the columns are read, or skip the lines that are refused.',
  couldNotImportLines: 'Could not import the lines',
  backToFile: 'Back to the file',
  dismiss: 'Dismiss',
  show: 'Show',
  downloadWrongLines: 'Download these lines',
  /** A name of a file. */
  wrongLinesFile: (file: string, ending: string) => `${file.replace(/\.[a-z]+$/i, '')}-refused.${ending}`,
  importOthers: (left: number) =>
    left === 0
      ? 'Import all lines'
      : `Import all but ${left === 1 ? '1 line' : `${left.toLocaleString()} lines`}`,
  importMended: (count: number) =>
    count === 1 ? 'Import 1 changed line' : `Import ${count.toLocaleString()} changed lines`,
  lineOfFile: (line: string) => `Line ${line}`,
  wholeLine: 'The line',
  cellOf: (column: string, line: number) => `${column === '' ? 'Text' : column} in line ${line}`,
  alsoIn: (shown: string, count: number, text: string) =>
    `Also in ${count === 1 ? '1 line' : `${shown} lines`} with "${text}"`,
  linesWait: (shown: string, count: number, file: string) =>
    count === 1
      ? `1 line of ${file} is not imported yet.`
      : `${shown} lines of ${file} are not imported yet.`,
} as const
