import { command } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'
import { readObject } from '../read-object.ts'

export const fieldAdd = command({
  name: 'field add',
  operands: [{ name: '<storage>' }, { name: '<name>' }, { name: '<type>' }],
  flags: {
    rules: {
      type: 'string',
      value: '<json>',
      help: 'Further settings of the field, for example {"required":true,"validation_rules":{"max_length":80}}.',
    },
    ...urlFlag,
  },
  summary: 'Adds a field to a storage.',
  about: `Refused, with the documents that do not fit, where stored values are not of the type.

Types: string, line, long_text, email, url, phone, number, integer, decimal, boolean, day, instant, date, choice, choices,
reference, file, files, list, object, array; autonumber, created_by and changed_by are written by Quoin. Some need a rule:

  quoin field add contracts price decimal --rules '{"validation_rules":{"currency":"EUR"}}'
  quoin field add contracts state choice --rules '{"validation_rules":{"choices":["open","signed"]}}'
  quoin field add contracts customer reference --rules '{"reference":{"storage":"customers"}}'`,
  async run({ positionals: [storage = '', name = '', type = ''], values: { rules, url } }, terminal) {
    const body = { ...readObject('rules', rules), storage, name, type }
    await withManagement(terminal, url, (management) => management.call('POST', '/blueprintfields', body))
    return 0
  },
})
