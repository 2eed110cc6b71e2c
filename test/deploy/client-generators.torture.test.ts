/**
 * Three programs that others use write a client of each from our OpenAPI document, and what they write compiles. They are
 * installed in a folder of their own: 112 MB that nothing else here needs.
 */
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { installExamples } from '../end-to-end/example-fixture.ts'
import { openTestQuoin } from '../end-to-end/harness.ts'
import { npmSettings } from './npm-settings.ts'

let folder: string

const compiler = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    module: 'esnext',
    moduleResolution: 'bundler',
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable'],
    types: [],
    skipLibCheck: true,
  },
}

/** The output of a program, with the Node of this test; rejects with it if the program fails. */
async function run(command: string): Promise<string> {
  const path = `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`
  const options = { cwd: folder, env: { ...npmSettings(), PATH: path, HOME: folder }, maxBuffer: 1 << 26 }
  const { stdout } = await promisify(execFile)('sh', ['-ec', `${command} 2>&1`], options).catch((error) => {
    throw new Error(`${command}\n${error.stdout}`)
  })
  return stdout
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quoin-generators-'))
  await cp(join(import.meta.dirname, 'generators'), folder, { recursive: true })
  await run('npm install --no-audit --no-fund')
  const quoin = await openTestQuoin()
  try {
    await installExamples(quoin)
    const { text } = await quoin.send('GET', '/openapi.json', { as: 'admin' })
    await writeFile(join(folder, 'openapi.json'), text)
  } finally {
    await quoin.close()
  }
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function compile(written: string): Promise<string> {
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ ...compiler, include: [written] }))
  return run('npx tsc -p .')
}

/** Uses the client wrongly: the control of what is compiled. */
const misuse = {
  'openapi-typescript': `import type { paths } from './written.ts'
export const status: keyof paths['/api/v1/tasks']['get']['responses'] = 'never'`,
  'hey-api': `import { signIn } from './written/index.ts'
export const wrong = signIn({ body: { username: 1, password: 2 } })`,
  orval: `import { signIn } from './written.ts'
export const wrong = signIn({ username: 1, password: 2 })`,
}

test.each([
  ['openapi-typescript', 'npx openapi-typescript openapi.json --output written.ts', 'written.ts'],
  ['hey-api', 'npx openapi-ts --input openapi.json --output written', 'written/index.ts'],
  ['orval', 'npx orval --config orval.config.mjs', 'written.ts'],
] as const)('%s writes a client that compiles and knows the endpoints', async (name, command, written) => {
  await run(command)
  await compile(written)
  const text = await readFile(join(folder, name === 'hey-api' ? 'written/types.gen.ts' : written), 'utf8')
  for (const address of ['/api/v1/auth/signin', '/api/v1/tasks']) expect(text).toContain(address)
  await writeFile(join(folder, 'misuse.ts'), misuse[name])
  await expect(compile('misuse.ts')).rejects.toThrow(/misuse\.ts.*error TS2322/)
  await rm(join(folder, 'written'), { recursive: true, force: true })
})
