/** Puts the products into a temporary folder, from the registry that npm knows. Nothing of them is ever in the repository. */
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const INSTALL_MS = 600_000

/** No scripts of packages run: none of these needs a build. */
export async function install(folder: string, packages: readonly string[]): Promise<void> {
  await writeFile(join(folder, 'package.json'), '{"private":true}')
  const words = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', ...packages]
  await run('npm', words, { cwd: folder, timeout: INSTALL_MS })
}

/** One that was free a moment ago: for programs that cannot be told to take any. */
export async function freePort(): Promise<number> {
  const server = createServer()
  return await new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => {
        if (typeof address === 'object' && address !== null) resolve(address.port)
        else reject(new Error('There is no free port.'))
      })
    })
  })
}
