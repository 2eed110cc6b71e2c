import { command } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'
import { UsageError } from '../read-words.ts'

export const secretSet = command({
  name: 'secret set',
  operands: [{ name: '<name>' }],
  flags: {
    file: {
      type: 'string',
      value: '<file>',
      help: 'Read the value from this file, as it is: for keys of several lines.',
      completes: 'file',
    },
    ...urlFlag,
  },
  summary: 'Sets a secret, which pins of the type secret name.',
  about: `Asks for the value, or reads the first line of the standard input: other users of the machine can read a command
line. Adds the secret or changes it; runs that begin afterwards use the new value.`,
  async run({ positionals: [name = ''], values: { file, url } }, terminal) {
    const value =
      file === undefined ? await terminal.readSecret(`Value of ${name}: `) : await textOfFile(file)
    if (value === '') throw new UsageError('The value is empty. Write it to the standard input.')
    const { setNamed } = await import('../named-records.ts')
    const { secretKind } = await import('./stored-secrets.ts')
    await withManagement(terminal, url, (management) => setNamed(management, secretKind, name, { value }))
    return 0
  },
})

async function textOfFile(file: string): Promise<string> {
  const { readFile } = await import('node:fs/promises')
  return readFile(file, 'utf8')
}
