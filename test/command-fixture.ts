/** A place where `quoin …` is run as a person does: on a data directory while no server runs, or over HTTP while one does. */
import { randomFillSync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readOptions } from '../src/options/options.ts'
import { openQuoin, type Quoin } from '../src/quoin/quoin.ts'
import { adminPassword } from './end-to-end/harness.ts'
import { copyQuoinFile } from './quoin-template.ts'
import { type CommandEnd, quoinCommand } from './recording-terminal.ts'

export const places = ['over HTTP', 'on the data directory'] as const

export interface CommandFixture {
  readonly directory: string
  /** What each command is run with. */
  readonly environment: Readonly<Record<string, string>>
  /** `--url` and the address of the server, where one runs. */
  readonly flags: readonly string[]
  file(name: string): string
  run(words: readonly string[], input?: string): Promise<CommandEnd>
  /** Looks at what is there: in the server, or in one that is opened for it. */
  inside<T>(look: (quoin: Quoin) => Promise<T>): Promise<T>
  close(): Promise<void>
}

interface FixtureOptions {
  /** More environment variables. */
  readonly settings?: Readonly<Record<string, string>>
  /** Done before the server begins to listen, or ends. */
  readonly prepare?: (quoin: Quoin) => Promise<void>
}

export async function openCommandFixture(
  where: (typeof places)[number],
  { settings, prepare }: FixtureOptions = {},
): Promise<CommandFixture> {
  const directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  const environment: Record<string, string> = {
    QUOIN_DATA: join(directory, 'data'),
    QUOIN_PORT: '0',
    QUOIN_ADMIN_PASSWORD: adminPassword,
    QUOIN_LOG_LEVEL: 'silent',
    ...settings,
  }
  const open = () => {
    const random = (bytes: Uint8Array) => void randomFillSync(bytes)
    const passwordCost = { memory: 64, passes: 1, parallelism: 1 }
    return openQuoin(readOptions(environment), { clock: Date.now, random, synchronous: 'OFF', passwordCost })
  }
  await copyQuoinFile(join(directory, 'data'))
  const first = await open()
  await prepare?.(first)
  const server = where === 'over HTTP' ? first : undefined
  const flags = server ? ['--url', await server.server.listen()] : []
  if (server) environment.QUOIN_TOKEN = (await signInAt(server, 'admin', adminPassword)).access_token
  else await first.close()
  return {
    directory,
    environment,
    flags,
    file: (name) => join(directory, name),
    run: (words, input) => quoinCommand([...words, ...flags], environment, input),
    async inside(look) {
      if (server) return look(server)
      const opened = await open()
      return look(opened).finally(() => opened.close())
    },
    async close() {
      await server?.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

export function signInAt({ access }: Quoin, username: string, password: string) {
  return access.signIn({ username, password, ip: '127.0.0.1' })
}
