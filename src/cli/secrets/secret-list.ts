import { command } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'

export const secretList = command({
  name: 'secret list',
  operands: [],
  flags: urlFlag,
  summary: 'Lists the names of secrets and the active blueprints that use them.',
  about:
    'Prints one line for each secret: its name, a tab and the names of blueprints. Values are never shown.',
  async run({ values: { url } }, terminal) {
    const { allSecrets } = await import('./stored-secrets.ts')
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
