import { command } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'

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
