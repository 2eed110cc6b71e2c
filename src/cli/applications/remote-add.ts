import { command } from '../command.ts'
import { serverAddress } from '../open-management.ts'

export const remoteAdd = command({
  name: 'remote add',
  operands: [{ name: '<name>' }, { name: '<address>' }],
  flags: {},
  summary: 'Names a cluster, for --remote of plan, push, pull and others.',
  about: `Signing in stays with quoin login <address> <username>.
The names are in remotes.json beside the sign-ins; a name that is there gets the new address.`,
  async run({ positionals: [name = '', address = ''] }, terminal) {
    const { addRemote } = await import('./remotes.ts')
    await addRemote(terminal, name, serverAddress(address))
    return 0
  },
})
