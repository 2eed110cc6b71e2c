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
    host: {
      type: 'string',
      value: '<host>',
      multiple: true,
      help: 'Host that it may be sent to, such as api.example.com; several times for several. Replaces the list.',
    },
    'no-hosts': { type: 'boolean', help: 'It is sent nowhere: only signatures are checked with it.' },
    ...urlFlag,
  },
  summary: 'Sets a secret, which pins of the type secret name.',
  about: `Asks for the value, or reads the first line of the standard input: other users of the machine can read a command
line. Adds the secret or changes it; runs that begin afterwards use the new value. With --host or --no-hosts an empty value
leaves the present one. Without a list of hosts, connections may send it to any server.`,
  async run({ positionals: [name = ''], values: { file, host, 'no-hosts': none, url } }, terminal) {
    const value =
      file === undefined ? await terminal.readSecret(`Value of ${name}: `) : await textOfFile(file)
    if (none && host) throw new UsageError('Use --host or --no-hosts, not both.')
    const hosts = none ? [] : host
    if (value === '' && !hosts) throw new UsageError('The value is empty. Write it to the standard input.')
    const fields = { ...(value !== '' && { value }), ...(hosts && { hosts }) }
    const { setNamed } = await import('../named-records.ts')
    const { secretKind } = await import('./stored-secrets.ts')
    await withManagement(terminal, url, (management) => setNamed(management, secretKind, name, fields))
    return 0
  },
})

async function textOfFile(file: string): Promise<string> {
  const { readFile } = await import('node:fs/promises')
  return readFile(file, 'utf8')
}
