import { command } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'

export const storageList = command({
  name: 'storage list',
  operands: [],
  flags: urlFlag,
  summary: 'Lists the storages, and how many documents each has.',
  about: 'Prints one line for each storage: its name, a tab and the number of documents.',
  async run({ values: { url } }, terminal) {
    const { storagesWithCounts } = await import('./stored-storages.ts')
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
    const { storageNamed } = await import('./stored-storages.ts')
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
