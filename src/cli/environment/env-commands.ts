import type { JsonValue } from '../../shared/json.ts'
import { MAX_ENVIRONMENT_VALUES } from '../../shared/names/stored-names.ts'
import { readJson } from '../../shared/numbers/exact-json.ts'
import { textIn } from '../../storage/document-fields.ts'
import { command } from '../command.ts'
import type { Management } from '../management.ts'
import { allNamed, type NamedKind, recordNamed } from '../named-records.ts'
import { urlFlag, withManagement } from '../open-management.ts'
import { UsageError } from '../read-words.ts'

export const envList = command({
  name: 'env list',
  operands: [],
  flags: urlFlag,
  summary: 'Lists the values of the environment, which expressions read as env.NAME.',
  about: 'Prints one line for each value: its name, a tab and the value as JSON.',
  async run({ values: { url } }, terminal) {
    const found = await withManagement(terminal, url, allValues)
    for (const { name, value } of found) terminal.print(`${name}\t${JSON.stringify(value)}`)
    if (found.length === 0)
      terminal.complain('The environment holds no values. Set one: quoin env set <name> <value>')
    return 0
  },
})

export const envGet = command({
  name: 'env get',
  operands: [{ name: '<name>' }],
  flags: urlFlag,
  summary: 'Prints one value of the environment.',
  about: 'Prints a text as it is, and any other value as JSON.',
  async run({ positionals: [name = ''], values: { url } }, terminal) {
    const { value } = await withManagement(terminal, url, (management) => valueNamed(management, name))
    terminal.print(typeof value === 'string' ? value : JSON.stringify(value))
    return 0
  },
})

export const envSet = command({
  name: 'env set',
  operands: [{ name: '<name>' }, { name: '<value>' }],
  flags: {
    json: {
      type: 'boolean',
      help: 'Read the value as JSON: a number, true, a list or an object. Else it is a text.',
    },
    ...urlFlag,
  },
  summary: 'Sets a value of the environment, which expressions read as env.NAME.',
  about: `Adds the value or changes it. Runs that begin afterwards read it; no deploy is needed. Values are no place for secrets.
Write -- before a value that begins with -.`,
  async run({ positionals: [name = '', text = ''], values: { json = false, url } }, terminal) {
    const value = json ? parsed(text) : text
    const { setNamed } = await import('../named-records.ts')
    await withManagement(terminal, url, (management) => setNamed(management, valueKind, name, { value }))
    return 0
  },
})

function parsed(text: string): JsonValue {
  const read = readJson(text)
  if ('value' in read) return read.value
  throw new UsageError(`The value ${read.problem}: ${text}. Without --json it is a text.`)
}

export const envUnset = command({
  name: 'env unset',
  operands: [{ name: '<name>' }],
  flags: urlFlag,
  summary: 'Removes a value of the environment.',
  about: 'In runs that begin afterwards, env.NAME is nothing.',
  async run({ positionals: [name = ''], values: { url } }, terminal) {
    const { removeNamed } = await import('../named-records.ts')
    await withManagement(terminal, url, (management) => removeNamed(management, valueKind, name))
    return 0
  },
})

export const valueKind: NamedKind = {
  path: '/_system/environment',
  noun: 'value',
  most: MAX_ENVIRONMENT_VALUES,
}

interface NamedValue {
  readonly name: string
  readonly value: JsonValue
}

/** By name. */
async function allValues(management: Management): Promise<NamedValue[]> {
  const records = await allNamed(management, valueKind)
  return records.map(({ name, value = null }) => ({ name: textIn(name), value }))
}

async function valueNamed(management: Management, name: string): Promise<NamedValue> {
  const { value = null } = await recordNamed(management, valueKind, name)
  return { name, value }
}
