import { MAX_SECRETS } from '../../shared/names/stored-names.ts'
import { objectsIn, textIn } from '../../storage/document-fields.ts'
import { command } from '../command.ts'
import type { Management } from '../management.ts'
import { allNamed, type NamedKind } from '../named-records.ts'
import { urlFlag, withManagement } from '../open-management.ts'
import { UsageError } from '../read-words.ts'

export const secretList = command({
  name: 'secret list',
  operands: [],
  flags: urlFlag,
  summary: 'Lists the names of secrets and the active blueprints that use them.',
  about:
    'Prints one line for each secret: its name, a tab and the names of blueprints. Values are never shown.',
  async run({ values: { url } }, terminal) {
    const found = await withManagement(terminal, url, allSecrets)
    for (const { name, users } of found) terminal.print(`${name}\t${users.join(', ')}`)
    for (const { name, anywhere, senders } of found)
      if (anywhere && senders > 0)
        terminal.complain(
          `${name} may be sent to any server. Name its hosts: quoin secret set ${name} --host <host>`,
        )
    for (const { name, readable } of found)
      if (!readable) terminal.complain(`${name} cannot be decrypted: it was encrypted with another key.`)
    if (found.length === 0) terminal.complain('There are no secrets. Set one: quoin secret set <name>')
    return 0
  },
})

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
    await withManagement(terminal, url, (management) => setNamed(management, secretKind, name, fields))
    return 0
  },
})

async function textOfFile(file: string): Promise<string> {
  const { readFile } = await import('node:fs/promises')
  return readFile(file, 'utf8')
}

export const secretUnset = command({
  name: 'secret unset',
  operands: [{ name: '<name>' }],
  flags: urlFlag,
  summary: 'Removes a secret.',
  about: 'Blocks that name it fail from then on.',
  async run({ positionals: [name = ''], values: { url } }, terminal) {
    const { removeNamed } = await import('../named-records.ts')
    await withManagement(terminal, url, (management) => removeNamed(management, secretKind, name))
    return 0
  },
})

export const secretRotate = command({
  name: 'secret rotate',
  operands: [],
  flags: urlFlag,
  summary: 'Encrypts all secrets with QUOIN_SECRETS_KEY.',
  about: `Decrypts what was encrypted with one of QUOIN_SECRETS_OLD_KEYS. Every node needs the present key before.
Exit code 1 when a secret could not be decrypted: it stays as it is.`,
  async run({ values: { url } }, terminal) {
    const { rotated, unreadable } = await withManagement(terminal, url, rotateSecrets)
    terminal.print(`${rotated} secrets encrypted again.`)
    if (unreadable > 0)
      terminal.complain(`${unreadable} secrets cannot be decrypted with any key that is set.`)
    return unreadable > 0 ? 1 : 0
  },
})

export const secretKind: NamedKind = { path: '/_system/secrets', noun: 'secret', most: MAX_SECRETS }

interface NamedSecret {
  readonly name: string
  readonly readable: boolean
  /** It has no list of hosts. */
  readonly anywhere: boolean
  /** Connections that send it. */
  readonly senders: number
  /** Names of active blueprints. */
  readonly users: readonly string[]
}

/** By name. */
async function allSecrets(management: Management): Promise<NamedSecret[]> {
  return (await allNamed(management, secretKind)).map((record) => ({
    name: textIn(record.name),
    readable: record.readable === true,
    anywhere: record.hosts === null,
    senders: Array.isArray(record.sent_by) ? record.sent_by.length : 0,
    users: objectsIn(record.used_by).map(({ name }) => textIn(name)),
  }))
}

/** Gives the numbers of secrets that were encrypted again, and of those that no key opens. */
async function rotateSecrets(
  management: Management,
): Promise<{ readonly rotated: number; readonly unreadable: number }> {
  const reply = await management.call('POST', `${secretKind.path}/rotate`)
  const { rotated, unreadable } = Object(reply)
  return { rotated: Number(rotated), unreadable: Number(unreadable) }
}
