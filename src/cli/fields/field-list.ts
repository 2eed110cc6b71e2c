import { command } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'

export const fieldList = command({
  name: 'field list',
  operands: [{ name: '<storage>' }],
  flags: urlFlag,
  summary: 'Lists the fields of a storage.',
  about: 'Prints one line for each field: its name, a tab, its type and rules.',
  async run({ positionals: [storage = ''], values: { url } }, terminal) {
    const { fieldsOf, shownField } = await import('./stored-fields.ts')
    const fields = await withManagement(terminal, url, (management) => fieldsOf(management, storage))
    for (const field of fields) terminal.print(shownField(field))
    if (fields.length === 0)
      terminal.complain(`${storage} has no fields. Add one: quoin field add ${storage} <name> <type>`)
    return 0
  },
})
