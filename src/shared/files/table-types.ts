/** Media types of files of documents. */
export const NDJSON = 'application/x-ndjson'
export const CSV = 'text/csv'
export const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
