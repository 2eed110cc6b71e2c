/** Copies of the repository to which recipes are applied, and suites that run in all of them at once. */
import { execFile } from 'node:child_process'
import {
  copyFile,
  cp,
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { insertedBelow, type Piece } from './recipe-code.ts'

const root = join(import.meta.dirname, '..')
const PARTS = ['src', 'test', 'scripts', 'examples', 'package.json', 'tsconfig.json']

export interface RecipeFixture {
  /** A copy with these pieces applied. */
  copy(name: string, pieces: readonly Piece[]): Promise<string>
  /** Runs suites, named by copy and file; gives those that did not pass. */
  failing(suites: readonly string[], postgresStarter: number): Promise<string[]>
  close(): Promise<void>
}

export async function openRecipeFixture(): Promise<RecipeFixture> {
  const directory = await mkdtemp(join(tmpdir(), 'quoin-recipes-'))
  return {
    async copy(name, pieces) {
      const to = join(directory, name)
      await mkdir(to)
      for (const part of PARTS) await linked(join(root, part), join(to, part))
      // These are written in place.
      await cp(join(root, 'docs'), join(to, 'docs'), { recursive: true })
      await copyFile(join(root, 'README.md'), join(to, 'README.md'))
      await symlink(join(root, 'node_modules'), join(to, 'node_modules'))
      for (const piece of pieces) await apply(to, piece)
      return to
    },
    async failing(suites, postgresStarter) {
      const config = join(directory, 'vitest.config.mjs')
      const provide = { engine: 'sqlite', thorough: false, postgresStarter, onlyExample: 'text_reverse' }
      // As in vitest.config.ts: Node imports the sources itself.
      const experimental = { viteModuleRunner: false, nodeLoader: false }
      const limits = { maxWorkers: 2, testTimeout: 180_000, hookTimeout: 300_000 }
      const test = { include: suites, provide, experimental, pool: 'forks', isolate: false, ...limits }
      await writeFile(config, `export default ${JSON.stringify({ test })}`)
      const report = join(directory, 'report.json')
      const vitest = join(root, 'node_modules/vitest/vitest.mjs')
      const words = [
        'run',
        '--root',
        directory,
        '--config',
        config,
        '--reporter=json',
        `--outputFile=${report}`,
      ]
      await promisify(execFile)(process.execPath, [vitest, ...words], { cwd: directory }).catch(
        () => undefined,
      )
      const { testResults } = JSON.parse(await readFile(report, 'utf8'))
      const passed = new Set(
        testResults.flatMap(({ name, status }: { name: string; status: string }) =>
          status === 'passed' ? [name.slice(name.indexOf(directory) + directory.length + 1)] : [],
        ),
      )
      return suites.filter((suite) => !passed.has(suite))
    },
    close: () => rm(directory, { recursive: true, force: true }),
  }
}

/** The same files under other names; copied where the folders are on two disks. */
async function linked(from: string, to: string): Promise<void> {
  const entries = await readdir(from, { withFileTypes: true }).catch(() => undefined)
  if (entries === undefined) return link(from, to).catch(() => copyFile(from, to))
  await mkdir(to)
  await Promise.all(
    entries
      .filter(({ name }) => name !== 'node_modules')
      .map(({ name }) => linked(join(from, name), join(to, name))),
  )
}

async function apply(to: string, { file, below, text }: Piece): Promise<void> {
  const path = join(to, await numbered(to, file))
  const written = below === undefined ? text : insertedBelow(await readFile(path, 'utf8'), below, text)
  await mkdir(dirname(path), { recursive: true })
  // Another file in its place: the one that was there is also the repository's.
  await rm(path, { force: true })
  await writeFile(path, written)
}

/** `000N` stands for the next number of the folder. */
async function numbered(to: string, file: string): Promise<string> {
  if (!file.includes('000N')) return file
  const names = await readdir(join(to, dirname(file)))
  return file.replace('000N', String(names.length + 1).padStart(4, '0'))
}
