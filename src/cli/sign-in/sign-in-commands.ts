import { command } from '../command.ts'

export const login = command({
  name: 'login',
  operands: [{ name: '<address>' }, { name: '<username>', optional: true }],
  flags: {},
  summary: 'Signs in to a running server, for commands with --url.',
  about: `Without a user name it prints an address: open it in a browser of this computer, and sign in there, with a provider too.
With one it asks for the password, or reads it from the first line of the standard input. The access token is stored in
quoin/sign-ins.json in XDG_CONFIG_HOME (~/.config if not set), which only you can read; the password is not stored.
Each use extends the token. QUOIN_TOKEN, where it is set, is used instead.`,
  async run({ positionals: [address = '', username] }, terminal) {
    const { runLogin, runBrowserLogin } = await import('./run-login.ts')
    return username === undefined ? runBrowserLogin(address, terminal) : runLogin(address, username, terminal)
  },
})

export const logout = command({
  name: 'logout',
  operands: [{ name: '<address>', optional: true }],
  flags: {},
  summary: 'Signs out of a server and deletes its stored access token.',
  about: 'The address can be left out if there is only one sign-in.',
  async run({ positionals: [address] }, terminal) {
    const { runLogout } = await import('./run-login.ts')
    return runLogout(address, terminal)
  },
})
