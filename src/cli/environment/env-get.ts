import { command } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'

export const envGet = command({
  name: 'env get',
  operands: [{ name: '<name>' }],
  flags: urlFlag,
  summary: 'Prints one value of the environment.',
  about: 'Prints a text as it is, and any other value as JSON.',
  async run({ positionals: [name = ''], values: { url } }, terminal) {
    const { valueNamed } = await import('./stored-values.ts')
    const { value } = await withManagement(terminal, url, (management) => valueNamed(management, name))
    terminal.print(typeof value === 'string' ? value : JSON.stringify(value))
    return 0
  },
})
