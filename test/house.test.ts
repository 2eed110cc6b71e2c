import { existsSync, globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { systemStorages } from '../src/storage/system-storages.ts'
import { brokenRules, commonRules, filesInCircles, importsOf } from './import-graph.ts'
import { controlRules, entryRules, wallRules, wallsOf } from './walls.ts'

const root = join(import.meta.dirname, '..')
const sources = globSync('{src,test,bench,scripts,examples}/**/*.{ts,tsx,mjs,sh}', { cwd: root })
const inSource = sources.filter((file) => file.startsWith('src/') && /\.tsx?$/.test(file))

const texts = new Map(
  await Promise.all(inSource.map(async (file) => [file, await readFile(join(root, file), 'utf8')] as const)),
)

test('every folder keeps to its wall, and nothing imports in a circle', () => {
  const imports = importsOf(texts)
  expect(brokenRules(imports, [...commonRules, ...wallRules(), ...entryRules()])).toEqual([])
  expect(filesInCircles(imports)).toEqual([])
  // A scanner that sees nothing is content: it must have seen imports out of every folder, and files where they lead to.
  const controls = controlRules().filter((rule) => brokenRules(imports, [rule]).length === 0)
  expect(controls).toEqual([])
  const files = imports.filter(({ to }) => /^(\.|src|test|bench)/.test(to))
  expect(files.length).toBeGreaterThan(2 * inSource.length)
  expect(files.filter(({ to }) => !existsSync(join(root, to)))).toEqual([])
})

test('every folder of src has one wall', () => {
  const folders = new Set(inSource.map((file) => dirname(file).slice('src/'.length)).filter(Boolean))
  expect([...folders].filter((folder) => wallsOf(folder).length !== 1)).toEqual([])
})

test('imports past a wall are found', () => {
  const upwards: Record<string, string> = {
    'src/storage/sqlite/core/a.ts': '../../postgres/core/b.ts',
    'src/storage/postgres/core/b.ts': '../../sqlite/core/c.ts',
    'src/storage/sqlite/core/c.ts': '../../copy/d.ts',
    'src/storage/copy/d.ts': '../../flows/compile/e.ts',
    'src/flows/compile/e.ts': '../run/f.ts',
    'src/flows/run/f.ts': '../../http/server/g.tsx',
    'src/http/server/g.tsx': '../pages/h.ts',
    'src/http/pages/h.ts': '../../quoin/i.ts',
    'src/shared/i.ts': '../cli/i.ts',
  }
  const sources = new Map(Object.entries(upwards).map(([file, to]) => [file, `import '${to}'`]))
  const found = brokenRules(importsOf(sources), wallRules()).map((line) => line.replace(/.*: (.*) →.*/, '$1'))
  expect(found.toSorted()).toEqual(Object.keys(upwards).toSorted())
})

test('an import past an entry is found', () => {
  const broken = (from: string, to: string) =>
    brokenRules(importsOf(new Map([[from, `import '${to}'`]])), entryRules()).length
  expect(broken('src/quoin/a.ts', '../agents/agents.ts')).toBe(0)
  expect(broken('src/quoin/a.ts', '../agents/mcp-server.ts')).toBe(1)
  expect(broken('src/agents/a.ts', './mcp-server.ts')).toBe(0)
  expect(broken('src/quoin/a.test.ts', '../agents/mcp-server.ts')).toBe(0)
  expect(broken('src/http/a.ts', '../studio/app.tsx')).toBe(1)
  expect(broken('src/flows/a.ts', '../storage/sqlite/sql/sqlite-query.ts')).toBe(1)
})

test('each folder of src says in at most 40 lines what it is, where one begins to read and how its tests run', async () => {
  const folders = globSync('src/*/', { cwd: root })
  expect(folders.length).toBeGreaterThan(15)
  for (const folder of folders) {
    const text = await readFile(join(root, folder, 'README.md'), 'utf8')
    expect(text.split('\n').length, folder).toBeLessThanOrEqual(40)
    expect(text).toContain('vitest run')
    const named = [...text.matchAll(/^\| `([\w/.-]+)`/gm)].map(([, name = '']) => join(root, folder, name))
    expect(named.length, folder).toBeGreaterThan(0)
    expect(named.filter((file) => !existsSync(file))).toEqual([])
  }
})

test.each([
  ['a value', "import { a } from './b.ts'"],
  ['a type', "import type { A } from './b.ts'"],
  ['a type in its place', "let a: import('./b.ts').A"],
  ['what is passed on', "export * from './b.ts'"],
  ['what is loaded later', "const a = await import('./b.ts')"],
  ['how Vite loads it', "import a from './b.ts?raw'"],
])('an import is seen: %s', (_what, text) => {
  expect(importsOf(new Map([['src/a.ts', text]]))).toEqual([{ from: 'src/a.ts', to: 'src/b.ts' }])
})

test.each([
  ['a module of Node in what runs in a browser', 'src/shared/a.ts', 'node:fs'],
  ['an engine', 'src/flows/run/a.ts', '../../storage/sqlite/core/b.ts'],
  ['a test', 'src/flows/run/a.ts', '../../../test/b.ts'],
])('a common rule is kept: %s', (_what, file, to) => {
  const broken = (from: string) => brokenRules(importsOf(new Map([[from, `import '${to}'`]])), commonRules)
  expect(broken(file)).toHaveLength(1)
  expect(broken(file.replace('.ts', '.test.ts'))).toEqual([])
})

test.each<[string, Record<string, string>, string[]]>([
  ['one file', { a: 'a' }, ['a']],
  ['two', { a: 'b', b: 'a', c: 'a' }, ['a', 'b']],
  ['three, by a type', { a: 'b', b: 'c', c: 'a' }, ['a', 'b', 'c']],
  ['none', { a: 'b', b: 'c', c: 'd' }, []],
])('a circle is found: %s', (_what, imports, circle) => {
  const edges = Object.entries(imports).map(([from, to]) => ({ from, to }))
  expect(filesInCircles(edges)).toEqual(circle)
})

test('no file has more than 500 lines, and half of them at most 120', async () => {
  const lengths = await Promise.all(
    sources.map(async (file) => ({
      file,
      lines: (await readFile(join(root, file), 'utf8')).split('\n').length - 1,
    })),
  )
  expect(lengths.filter(({ lines }) => lines > 500)).toEqual([])
  const source = lengths.filter(({ file }) => inSource.includes(file)).map(({ lines }) => lines)
  source.sort((a, b) => a - b)
  expect(source[Math.floor(source.length / 2)]).toBeLessThanOrEqual(120)
})

test('no folder of src holds more than 40 files beside tests', () => {
  const held = new Map<string, number>()
  for (const file of inSource.filter((one) => !/\.test\.tsx?$/.test(one)))
    held.set(dirname(file), (held.get(dirname(file)) ?? 0) + 1)
  expect([...held].filter(([, files]) => files > 40)).toEqual([])
})

test('files are named for what is in them', () => {
  const vague = /^(utils?|helpers?|types?|managers?|index|misc|common)\./i
  expect(sources.filter((file) => vague.test(basename(file)))).toEqual([])
  const odd = inSource.filter(
    (file) => !/^src\/blocks\/[a-z]+\//.test(file) && !/^[a-z0-9-]+(\.[a-z]+)*\.tsx?$/.test(basename(file)),
  )
  expect(odd).toEqual([])
})

test('nothing but the table of options reads the environment', () => {
  const reading = [...texts].filter(([, text]) => text.includes('process.env')).map(([file]) => file)
  expect(reading).toEqual(['src/options/options.ts'])
})

test('nothing waits for the signal of a request, which does not come once its body was read', () => {
  const waiting = [...texts].filter(([, text]) => /\brequest\.signal\b/.test(text)).map(([file]) => file)
  expect(waiting).toEqual([])
})

test('every file that ARCHITECTURE.md and the design pages name exists', async () => {
  const all = globSync('{src,test,bench,scripts,bin}/**/*', { cwd: root, exclude: ['**/node_modules'] })
  const pages = ['ARCHITECTURE.md', ...globSync('src/*/DESIGN.md', { cwd: root })]
  const texts = await Promise.all(pages.map((page) => readFile(join(root, page), 'utf8')))
  const named = texts.flatMap((text) => [...text.matchAll(/`([\w/.-]+\.(?:tsx?|mjs|sql))`/g)])
  const names = named.map(([, name = '']) => name)
  expect(pages.length).toBeGreaterThan(5)
  expect(names.length).toBeGreaterThan(150)
  expect(names.filter((name) => !all.some((file) => `/${file}`.endsWith(`/${name}`)))).toEqual([])
})

test('every file that a comment of src names exists', () => {
  const all = new Set(
    globSync('{src,test,bench,scripts,bin}/**/*.{ts,tsx}', { cwd: root }).map((file) => basename(file)),
  )
  // Not an address such as /api/v1/client.ts.
  const inComments = /(?:\/\/|^\s*\*|\/\*\*).*?(?<![\w./-])([\w-]+(?:\/[\w-]+)*\.tsx?)\b/gm
  const named = inSource
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) =>
      [...(texts.get(file) ?? '').matchAll(inComments)].map(([, name = '']) => ({ file, name })),
    )
  expect(named.length).toBeGreaterThan(50)
  expect(named.filter(({ name }) => !all.has(basename(name)))).toEqual([])
})

test('each picture is shown on a page, and each that a page shows is there', async () => {
  const pages = globSync(['*.md', 'docs/*.md', 'examples/*/README.md'], { cwd: root })
  const written = await Promise.all(pages.map((page) => readFile(join(root, page), 'utf8')))
  const shown = written.flatMap((text) =>
    [...text.matchAll(/screenshots\/([\w-]+\.png)\)/g)].map(([, name]) => name),
  )
  const pictures = globSync('*.png', { cwd: join(root, 'docs/screenshots') })
  expect([...new Set(shown)].toSorted()).toEqual(pictures.toSorted())
})

test('ARCHITECTURE.md is read in one sitting: at most 25 KB, and 30 words', async () => {
  const text = await readFile(join(root, 'ARCHITECTURE.md'), 'utf8')
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(25_600)
  const words = text.slice(text.indexOf('## Words'), text.indexOf('## Dependencies')).match(/^\| \*\*/gm)
  expect(words?.length).toBeGreaterThan(15)
  expect(words?.length).toBeLessThanOrEqual(30)
})

test('names of own storages are written in one file', () => {
  const names = Object.values(systemStorages).map((name) => `'${name}'`)
  // Queues of jobs have names of their own.
  const written = ['src/storage/system-storages.ts', 'src/storage/job.ts']
  const others = inSource.filter((file) => !file.endsWith('.test.ts') && !written.includes(file))
  const writing: string[] = []
  for (const file of others) {
    const text = texts.get(file) ?? ''
    for (const name of names) if (text.includes(name)) writing.push(`${file}: ${name}`)
  }
  expect(writing).toEqual([])
})
