import { command } from '../command.ts'
import { urlFlag } from '../open-management.ts'

const decimals = ['point', 'comma'] as const
const dates = ['dmy', 'mdy', 'ymd'] as const
const separators = ['comma', 'semicolon', 'tab'] as const

export const rowsImport = command({
  name: 'rows import',
  operands: [{ name: '<storage>' }, { name: '<file>', completes: 'file' }],
  flags: {
    mapping: {
      type: 'string',
      value: '<json>',
      help: `Columns and their fields, for example {"Mail":"email","Notes":null}; null leaves a column out.
A column goes into the field of its name or label unless it is named here.`,
    },
    decimal: {
      type: 'string',
      value: '<mark>',
      help: 'Decimal mark of a CSV file: point (default) or comma.',
      completes: decimals,
    },
    dates: {
      type: 'string',
      value: '<order>',
      help: 'Order of days such as 3/4/2026: dmy, mdy or ymd. Refused if not given.',
      completes: dates,
    },
    separator: {
      type: 'string',
      value: '<separator>',
      help: 'Between the cells of a CSV file: comma, semicolon or tab. Found in its first line if not given.',
      completes: separators,
    },
    formats: {
      type: 'string',
      value: '<json>',
      help: 'Columns that differ, such as {"Price":"comma","Due":"mdy"}: point, comma, dmy, mdy or ymd.',
    },
    sheet: {
      type: 'string',
      value: '<name>',
      help: 'Sheet of an XLSX file. The first that is not hidden if not given.',
    },
    header: {
      type: 'string',
      value: '<line>',
      help: 'Line with the names of columns, where a title comes first. The first that is not empty if not given.',
    },
    refused: {
      type: 'string',
      value: '<file>',
      help: 'Write the first 1,000 refused lines into this file, with a column of reasons that an import leaves out.',
      completes: 'file',
    },
    'skip-invalid': {
      type: 'boolean',
      help: 'Import the other lines when some are refused.',
    },
    ...urlFlag,
  },
  summary: 'Imports the rows of a file into a storage as documents.',
  about: `The file is CSV (.csv, .tsv, .txt) or XLSX (.xlsx) with names of columns in a line, else NDJSON: one JSON document per
line. All or none: if a line is refused, nothing is imported, and the first 100 refused lines are listed
with their fields.`,
  async run({ positionals: [storage = '', file = ''], values }, terminal) {
    const { runRowsImport } = await import('./run-rows-import.ts')
    const { url, 'skip-invalid': skip = false, ...reading } = values
    return runRowsImport({ storage, file, url, skip, ...reading }, terminal)
  },
})
