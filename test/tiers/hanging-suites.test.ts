import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { endHanging } from './suite-times.ts'

const root = join(import.meta.dirname, '../..')

describe('a suite that hangs', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'quoin-tiers-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  test('its process is ended after the limit, and no other', async () => {
    const [hanging, young] = [endless(), endless()]
    const ended = once(hanging, 'exit')
    const began = new Date(Date.now() - 60_000)
    for (const child of [hanging, young]) await writeFile(join(folder, String(child.pid)), 'a.test.ts')
    await utimes(join(folder, String(hanging.pid)), began, began)
    endHanging(folder, 30_000)
    process.exitCode = undefined
    expect((await ended)[1]).toBe('SIGKILL')
    expect(await readdir(folder)).toEqual([String(young.pid)])
    expect(young.exitCode).toBeNull()
    young.kill('SIGKILL')
  })

  test('one whose process is gone is no suite that hangs', async () => {
    const gone = endless()
    gone.kill('SIGKILL')
    await once(gone, 'exit')
    const path = join(folder, String(gone.pid))
    await writeFile(path, 'a.test.ts')
    await utimes(path, new Date(0), new Date(0))
    endHanging(folder, 30_000)
    expect([process.exitCode, await readdir(folder)]).toEqual([undefined, []])
  })

  test('a process that waits for its next suite is at work on none', async () => {
    await writeFile(join(folder, 'short.test.ts'), `import { test } from 'vitest'\ntest('short', () => {})\n`)
    await writeFile(
      join(folder, 'long.test.ts'),
      `import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { suitesUnderWay } from '${join(import.meta.dirname, 'suites.ts')}'
test('long', async () => {
  await expect.poll(() => readdirSync(suitesUnderWay(process.ppid)), { timeout: 10_000 }).toEqual([String(process.pid)])
})
`,
    )
    expect(await vitestIn(folder, 60_000)).toMatchObject({ code: 0 })
  })

  test('a suite whose server does not start says so, and not what its hooks could not close', async () => {
    const line = 'PostgreSQL does not start here: no initdb'
    await writeFile(
      join(folder, 'no-server.test.ts'),
      `import { afterAll, beforeAll, test } from 'vitest'
let close
beforeAll(() => { throw new Error('${line}') })
afterAll(() => close())
test('asks it', () => {})
`,
    )
    const { code, printed } = await vitestIn(folder, 60_000)
    expect([code, printed.split(line).length > 1]).toEqual([1, true])
    expect(printed).not.toContain('close is not a function')
  })

  test('vitest names it, and runs the others', async () => {
    await writeFile(
      join(folder, 'hangs.test.ts'),
      `import { test } from 'vitest'\ntest('for ever', () => {\n  while (true) {}\n})\n`,
    )
    await writeFile(join(folder, 'short.test.ts'), `import { test } from 'vitest'\ntest('short', () => {})\n`)
    const { code, printed } = await vitestIn(folder, 3_000)
    expect(code).toBe(1)
    expect(printed).toContain('hangs.test.ts hangs: ended after')
    expect(printed).toMatch(/✓ short\.test\.ts/)
  })
})

function endless() {
  return spawn(process.execPath, ['-e', 'while (true) {}'], { stdio: 'ignore' })
}

async function vitestIn(folder: string, hangsAfter: number): Promise<{ code: number; printed: string }> {
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  const config = {
    test: {
      include: ['*.test.ts'],
      runner: join(import.meta.dirname, 'measuring-runner.ts'),
      reporters: ['default', [join(import.meta.dirname, 'suite-times.ts'), { hangsAfter }]],
      experimental: { viteModuleRunner: false, nodeLoader: false },
      isolate: false,
      maxWorkers: 2,
    },
  }
  await writeFile(join(folder, 'vitest.config.mjs'), `export default ${JSON.stringify(config)}`)
  const words = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--root', folder]
  const env = { PATH: process.env.PATH, NO_COLOR: '1' }
  const run = promisify(execFile)(process.execPath, words, { cwd: root, env })
  return run.then(
    ({ stdout, stderr }) => ({ code: 0, printed: stdout + stderr }),
    ({ code, stdout, stderr }) => ({ code, printed: stdout + stderr }),
  )
}
