import { command } from '../command.ts'
import { urlFlag } from '../open-management.ts'
import { UsageError } from '../read-words.ts'
import { flowKinds, sourceKinds, sourceOf } from './open-source.ts'

const kinds = [...Object.keys(sourceKinds), ...Object.keys(flowKinds)]

export const importFrom = command({
  name: 'import-from',
  operands: [
    { name: '<kind>', completes: kinds },
    { name: '<source>', completes: 'file' },
  ],
  flags: {
    yes: {
      type: 'boolean',
      help: 'Makes storages, fields and documents. Without it the command only says what it would do.',
    },
    'skip-invalid': { type: 'boolean', help: 'Import the other rows when some cannot be documents.' },
    key: {
      type: 'string',
      value: '<json>',
      help: `Columns by which rows are found again, such as {"orders":"number"}; null is the number of the line.
A column with a name such as id or code whose values differ if not given.`,
    },
    types: {
      type: 'string',
      value: '<json>',
      help: 'Types of fields that differ from what was recognised, such as {"orders.postcode":"string"}.',
    },
    decimal: {
      type: 'string',
      value: '<mark>',
      help: 'Decimal mark where the file does not say it: point or comma.',
      completes: ['point', 'comma'],
    },
    dates: {
      type: 'string',
      value: '<order>',
      help: 'Order of days such as 3/4/2026 where the file does not say it: dmy, mdy or ymd.',
      completes: ['dmy', 'mdy', 'ymd'],
    },
    schema: { type: 'string', value: '<name>', help: 'Of PostgreSQL: public if not given.' },
    'time-zone': {
      type: 'string',
      value: '<zone>',
      help: 'Of times that have none, such as Europe/Berlin: UTC if not given.',
    },
    users: {
      type: 'boolean',
      help: `Of pocketbase: makes its users users of Quoin too, who keep their passwords. Those who are there
stay unchanged.`,
    },
    remote: { type: 'string', value: '<name>', help: 'The cluster of this name: quoin remote add.' },
    ...urlFlag,
  },
  summary: 'Moves the data of another program in: storages, fields, references and documents.',
  about: `Says first what it would make and what cannot be said in Quoin, and changes nothing without --yes. Run again, it goes on
where it was interrupted, and brings what has changed in the source. docs/moving-in.md has the details.

  csv, xlsx    a folder of CSV and XLSX files, or one file: each becomes a storage
  postgres     a schema of a database, such as postgres://user@host:5432/shop. Leave the password out: it comes from
               PGPASSWORD or ~/.pgpass, so that no list of processes shows it
  pocketbase   its folder pb_data, a backup (.zip), or collections.json with <collection>.json in a folder
  directus     a folder with a schema snapshot (snapshot.yaml or .json) and <collection>.json of items
  openapi      an OpenAPI document of version 3, in JSON or YAML: its operations become endpoints of a blueprint
  n8n          an exported workflow: its nodes become blocks, as far as there are some`,
  async run({ positionals: [kind = '', source = ''], values }, terminal) {
    const { yes = false, 'skip-invalid': skip = false, url, remote, ...reading } = values
    const flows = Object.hasOwn(flowKinds, kind) ? flowKinds[kind] : undefined
    if (flows) {
      const [flag] =
        Object.entries({ ...reading, ...(skip && { 'skip-invalid': skip }) }).find(
          ([, value]) => value !== undefined,
        ) ?? []
      if (flag !== undefined) throw new UsageError(`import-from ${kind} does not take --${flag}.`)
      const { runFlowImport } = await import('./flows/run-flow-import.ts')
      return runFlowImport({ path: source, yes, url, remote, read: await flows() }, terminal)
    }
    const open = sourceOf(kind, source, reading)
    const { runImportFrom } = await import('./run-import-from.ts')
    return runImportFrom({ yes, skip, url, remote, open }, terminal)
  },
})
