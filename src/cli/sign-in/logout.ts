import { command } from '../command.ts'

export const logout = command({
  name: 'logout',
  operands: [{ name: '<address>', optional: true }],
  flags: {},
  summary: 'Signs out of a server and deletes its stored access token.',
  about: 'The address can be left out if there is only one sign-in.',
  async run({ positionals: [address] }, terminal) {
    const { runLogout } = await import('./run-logout.ts')
    return runLogout(address, terminal)
  },
})
