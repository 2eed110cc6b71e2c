import { isJsonObject } from '../../shared/json.ts'
import { textIn } from '../../storage/document-fields.ts'
import { command } from '../command.ts'
import { guidOf, type Management } from '../management.ts'
import { allNamed, type NamedKind, recordNamed } from '../named-records.ts'
import { urlFlag, withManagement } from '../open-management.ts'

export const storageList = command({
  name: 'storage list',
  operands: [],
  flags: urlFlag,
  summary: 'Lists the storages, and how many documents each has.',
  about: 'Prints one line for each storage: its name, a tab and the number of documents.',
  async run({ values: { url } }, terminal) {
    const found = await withManagement(terminal, url, storagesWithCounts)
    for (const { name, documents } of found) terminal.print(`${name}\t${documents}`)
    if (found.length === 0) terminal.complain('There are no storages. Add one: quoin storage add <name>')
    return 0
  },
})

export const storageAdd = command({
  name: 'storage add',
  operands: [{ name: '<name>' }],
  flags: {
    history: { type: 'boolean', help: 'Record the changes of documents.' },
    closed: { type: 'boolean', help: 'Documents have only the fields of the storage.' },
    ...urlFlag,
  },
  summary: 'Adds a storage.',
  about: 'Its fields: quoin field add <storage> <name> <type>',
  async run({ positionals: [name = ''], values: { history = false, closed = false, url } }, terminal) {
    const body = { name, history, closed }
    await withManagement(terminal, url, (management) => management.call('POST', '/_system/storages', body))
    return 0
  },
})

export const storageRemove = command({
  name: 'storage remove',
  operands: [{ name: '<name>' }],
  flags: {
    yes: { type: 'boolean', help: 'Remove it also while it has documents: they are permanently deleted.' },
    ...urlFlag,
  },
  summary: 'Removes a storage.',
  about:
    'Refused while an active blueprint uses it. Nothing is removed without --yes while it has documents.',
  async run({ positionals: [name = ''], values: { yes, url } }, terminal) {
    return withManagement(terminal, url, async (management) => {
      const { path, documents } = await storageNamed(management, name)
      if (!yes && documents > 0) {
        terminal.complain(`${name} has ${documents} documents. Nothing was removed. Delete them with --yes.`)
        return 1
      }
      await management.call('DELETE', path)
      return 0
    })
  },
})

const storageKind: NamedKind = { path: '/_system/storages', noun: 'storage', most: 1_000 }

interface CountedStorage {
  readonly name: string
  readonly documents: number
}

async function storagesWithCounts(management: Management): Promise<readonly CountedStorage[]> {
  const found: CountedStorage[] = []
  for (const record of await allNamed(management, storageKind))
    found.push({ name: textIn(record.name), documents: await countOf(management, guidOf(record)) })
  return found
}

async function countOf(management: Management, guid: string): Promise<number> {
  const reply = await management.call('GET', `${storageKind.path}/${guid}/count`)
  return isJsonObject(reply) ? Number(reply.count) : Number(reply)
}

/** Its path, and how many documents it has. Throws Refused when there is none. */
async function storageNamed(management: Management, name: string) {
  const guid = guidOf(await recordNamed(management, storageKind, name))
  return { path: `${storageKind.path}/${guid}`, documents: await countOf(management, guid) }
}
