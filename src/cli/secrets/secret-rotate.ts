import { command } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'

export const secretRotate = command({
  name: 'secret rotate',
  operands: [],
  flags: urlFlag,
  summary: 'Encrypts all secrets with QUOIN_SECRETS_KEY.',
  about: `Decrypts what was encrypted with one of QUOIN_SECRETS_OLD_KEYS. Every node needs the present key before.
Exit code 1 when a secret could not be decrypted: it stays as it is.`,
  async run({ values: { url } }, terminal) {
    const { rotateSecrets } = await import('./stored-secrets.ts')
    const { rotated, unreadable } = await withManagement(terminal, url, rotateSecrets)
    terminal.print(`${rotated} secrets encrypted again.`)
    if (unreadable > 0)
      terminal.complain(`${unreadable} secrets cannot be decrypted with any key that is set.`)
    return unreadable > 0 ? 1 : 0
  },
})
