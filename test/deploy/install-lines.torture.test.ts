/**
 * Runs the install lines of every deploy file in clean folders, and starts what they install. There is no container engine
 * here: each stage of the Dockerfile is a folder in which its paths are looked up, and Node is the one that runs the test.
 */
import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DockerStage, dockerStages } from './dockerfile-stages.ts'
import { npmSettings } from './npm-settings.ts'
import { startCommand } from './started-command.ts'

const house = join(import.meta.dirname, '..', '..')
let fixture: string

beforeAll(async () => {
  fixture = await mkdtemp(join(tmpdir(), 'quoin-install-'))
})
afterAll(() => rm(fixture, { recursive: true, force: true }))

const deployed = (file: string) => readFileSync(join(house, 'deploy', file), 'utf8')
/** What a checkout has, without what is made in it. */
const madeHere = new Set(['node_modules', 'dist', '.git', 'data'])

function copyCheckout(target: string, isRequested: (path: string) => boolean = () => true): void {
  for (const name of readdirSync(house).filter((entry) => !madeHere.has(entry) && isRequested(entry)))
    cpSync(join(house, name), join(target, name), {
      recursive: true,
      filter: (path) => isRequested(relative(house, path)),
    })
}

/** In a shell, with the Node of this test first and nothing else of this environment. */
async function shell(
  command: string,
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const path = `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`
  const options = { cwd, env: { ...npmSettings(), PATH: path, HOME: fixture, ...env }, maxBuffer: 1 << 26 }
  return (await promisify(execFile)('sh', ['-ec', command], options)).stdout
}

/** A path of the container, in the folder that stands for its root. */
const inside = (root: string, text: string) =>
  text.replace(/(?<![\w.-])\/(?=(app|tmp|data|usr|quoin)\b)/g, `${root}/`)

async function makeStage(stage: DockerStage, built: ReadonlyMap<string, string>): Promise<string> {
  const root = join(fixture, `stage-${stage.name || 'last'}`)
  for (const folder of ['app', 'tmp', 'usr/local/lib']) mkdirSync(join(root, folder), { recursive: true })
  let cwd = root
  for (const step of stage.steps) {
    if (step.kind === 'workdir') cwd = join(root, step.path)
    else if (step.kind === 'run')
      // Another user needs another process; who owns a folder is not tested here.
      await shell(inside(root, step.command).replaceAll(/-[og] node /g, ''), cwd, {
        npm_config_prefix: join(root, 'usr/local'),
      })
    else if (step.from === undefined) copyCheckout(cwd, dockerFilter())
    else cpSync(join(built.get(step.from) ?? '', step.source), join(root, step.target))
  }
  return root
}

/** What Dockerfile.dockerignore lets in: nothing but the names behind `!`, and no tests. */
function dockerFilter(): (path: string) => boolean {
  const names = [...deployed('Dockerfile.dockerignore').matchAll(/^!(.+)$/gm)].map(([, name]) => name)
  return (path) => names.includes(path.split('/')[0]) && !path.endsWith('.test.ts')
}

async function expectServed(words: readonly string[], cwd: string, env: Readonly<Record<string, string>>) {
  const settings = { QUOIN_PORT: '0', QUOIN_HOST: '127.0.0.1', QUOIN_LOG_LEVEL: 'warn', ...env }
  const path = `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`
  // No registry and no proxy can be reached: it starts offline.
  const offline = { npm_config_registry: 'http://127.0.0.1:9', npm_config_offline: 'true' }
  const started = await startCommand(words, {
    cwd,
    env: { PATH: path, HOME: fixture, ...offline, ...settings },
  })
  try {
    for (const [address, status] of [
      ['/health/ready', 200],
      ['/studio', 200],
      ['/docs', 200],
      ['/api/v1/info', 200],
      ['/nothing', 404],
    ] as const)
      expect([address, (await fetch(started.address + address)).status]).toEqual([address, status])
  } finally {
    expect(await started.end()).toBe(0)
  }
}

test('the Dockerfile builds an image that serves API, studio and docs', async () => {
  const built = new Map<string, string>()
  let last = ''
  const stages = dockerStages(deployed('Dockerfile'))
  for (const stage of stages) {
    last = await makeStage(stage, built)
    built.set(stage.name, last)
  }
  const { entrypoint = [], env = {} } = stages.at(-1) ?? {}
  await expectServed([...entrypoint.map((word) => inside(last, word)), 'start'], last, {
    ...env,
    QUOIN_DATA: join(last, 'data'),
    QUOIN_HOST: '127.0.0.1',
    QUOIN_PORT: '0',
  })
})

test('the package installs in an empty project as one package, and starts offline', async () => {
  const tarball = join(fixture, 'stage-built', 'app', 'quoin.tgz')
  const project = join(fixture, 'project')
  mkdirSync(project)
  await shell(`npm init -y && npm install --no-audit --no-fund ${tarball}`, project)
  const packages = readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.'))
  expect(packages).toEqual(['quoin'])
  expect(Number((await shell('du -sm node_modules', project)).split('\t')[0])).toBeLessThan(60)
  expect(await shell('npx --offline quoin --version', project)).toMatch(/^\d+\.\d+\.\d+\n$/)
  const folder = join(project, 'node_modules', 'quoin')
  for (const file of ['LICENSE', 'SECURITY.md', 'dist/packed/THIRD-PARTY.md', 'dist/studio/THIRD-PARTY.md'])
    expect([file, existsSync(join(folder, file))]).toEqual([file, true])
  expect(readFileSync(join(folder, 'dist/packed/THIRD-PARTY.md'), 'utf8')).toContain('## fastify')
  expect(JSON.parse(readFileSync(join(folder, 'dist/packed/sbom.cdx.json'), 'utf8'))).toMatchObject({
    bomFormat: 'CycloneDX',
  })
  // What npx starts; npx itself is ended by a signal before what it started has finished.
  await expectServed([join('node_modules', '.bin', 'quoin'), 'start'], project, {})
})

test('the lines of the systemd unit and of an upgrade install a program that serves the studio', async () => {
  const unit = deployed('quoin.service')
  const opt = join(fixture, 'opt', 'quoin')
  mkdirSync(opt, { recursive: true })
  copyCheckout(opt)
  const [, install = ''] = /&& cd \/opt\/quoin && (.+)$/m.exec(unit) ?? []
  await shell(install, opt)
  const [, started = ''] = /^ExecStart=(.+)$/m.exec(unit) ?? []
  const words = started.replaceAll('/opt/quoin', opt).split(' ')
  await expectServed(words, opt, { QUOIN_DATA: join(fixture, 'unit-data') })

  const [, upgrade = ''] =
    /A checkout: `git pull && (.+?)`/.exec(readFileSync(join(house, 'docs/operations.md'), 'utf8')) ?? []
  await shell(upgrade, opt)
  await expectServed(words, opt, { QUOIN_DATA: join(fixture, 'unit-data') })
})

test('control: `npm ci`, or a file that the image lacks, would be noticed', async () => {
  const stage = { name: 'control', env: {}, entrypoint: [], steps: [] }
  await expect(
    makeStage({ ...stage, steps: [{ kind: 'run', command: 'npm ci --omit=dev' }] }, new Map()),
  ).rejects.toThrow('npm ci')
  const folder = join(fixture, 'project', 'node_modules', 'quoin')
  await rm(join(folder, 'src', 'pages', 'theme'), { recursive: true })
  await expect(
    expectServed(['npx', '--offline', 'quoin', 'start'], join(fixture, 'project'), {}),
  ).rejects.toThrow()
})
