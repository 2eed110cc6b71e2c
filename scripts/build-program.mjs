/**
 *   node scripts/build-program.mjs            for this checkout, in dist/program
 *   node scripts/build-program.mjs --packed   for the published package, in dist/packed, with the licences of what is in it
 *
 * Builds the program with its dependencies into a few files in dist/program, when there is no bundle of these sources yet:
 * 600 modules take a start twice the processor time and 19 MB more than one. Without a bundle `quoin` runs the sources.
 *
 * Modules find their files (SQL, styles, examples) as in the sources, where those files still are. A module that starts
 * another one as a process or a thread names it by `new URL('./name.ts', import.meta.url)`: that one becomes a file
 * beside the bundle. What is imported by `await import()` stays apart, and is loaded when it is needed.
 */
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import { packedFolder, programFolder } from '../bin/program-folder.mjs'

const root = join(import.meta.dirname, '..')
const source = join(root, 'src') + sep
const packed = process.argv.includes('--packed')
const target = packed ? packedFolder : programFolder()
const all = dirname(target)
const PLACE = /new URL\('\.\/([\w-]+)\.ts', import\.meta\.url\)|import\.meta\.(url|dirname)\b/g

/** Each module keeps its place: the bundle's own, and the way from there. */
function place(path, property) {
  const way = JSON.stringify(relative(target, path).replaceAll(sep, '/'))
  return property === 'url'
    ? `new URL(${way}, import.meta.url).href`
    : `process.getBuiltinModule('node:path').join(import.meta.dirname, ${way})`
}

const program = {
  name: 'program',
  enforce: 'pre',
  transform(code, id) {
    if (!id.startsWith(source)) return undefined
    // What Fastify loads late is in the bundle, late too. Its folder is not asked for: a published package has none.
    const own = code
      .replaceAll("requireAsFastify('", "require('")
      .replace("createRequire(import.meta.resolve('fastify'))", 'undefined')
    return own.replace(PLACE, (_whole, started, property) => {
      if (started === undefined) return place(property === 'url' ? id : dirname(id), property)
      this.emitFile({ type: 'chunk', id: join(dirname(id), `${started}.ts`), fileName: `${started}.mjs` })
      return `new URL('./${started}.mjs', import.meta.url)`
    })
  },
  load(id) {
    return id === join(source, 'blocks', 'bundled-blocks.ts') ? blockList(dirname(id)) : undefined
  },
  // V8 takes two bytes for each character of a text that has one beyond Latin-1: 5 MB of a server's memory. In `renderChunk` it
  // would be undone: what comes behind that prints the characters themselves.
  generateBundle(_options, bundle) {
    for (const file of Object.values(bundle)) if (file.type === 'chunk') file.code = inAscii(file.code)
  },
  writeBundle({ dir }, bundle) {
    for (const name of Object.keys(bundle).filter((file) => file.endsWith('.mjs')))
      if (/[^\0-\x7f]/.test(readFileSync(join(dir, name), 'utf8'))) throw new Error(`${name} is not ASCII.`)
  },
}

function inAscii(code) {
  // Behind a backslash that is not escaped itself.
  if (/(?<!\\)(?:\\\\)*\\[^\0-\x7f]|raw`[^`]*[^\0-\x7f]/.test(code))
    throw new Error('A character that an escape would change.')
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function blockList(folder) {
  const files = readdirSync(folder, { recursive: true })
    .filter((file) => file.includes(sep) && /^\w+\.ts$/.test(basename(file)))
    .sort()
  const lines = files.map((file, place) => `import block${place} from ${JSON.stringify(join(folder, file))}`)
  const entries = files.map(
    (file, place) =>
      `{ group: ${JSON.stringify(dirname(file))}, file: ${JSON.stringify(file)}, exported: block${place} }`,
  )
  return `${lines.join('\n')}\nexport const bundledBlocks = [${entries.join(',\n')}]\n`
}

if (!packed && existsSync(target)) process.exit(0)
const began = Date.now()
// Not before there is something to build: it takes half a second to load.
const { build } = await import('vite')
const fresh = `${target}.${process.pid}`
try {
  await build({
    root,
    configFile: false,
    logLevel: 'warn',
    plugins: [program],
    // Optional, and made of native files.
    ssr: { noExternal: true, external: ['sharp'] },
    build: {
      ssr: true,
      outDir: fresh,
      target: 'esnext',
      minify: false,
      ...(packed && { license: { fileName: 'THIRD-PARTY.md' } }),
      rolldownOptions: {
        input: { main: join(source, 'main.ts') },
        output: { entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs', comments: false },
      },
    },
  })
  // What was edited meanwhile may be in it or not.
  if (!packed && programFolder() !== target) throw new Error('The sources were changed while they were read.')
  if (packed) rmSync(target, { recursive: true, force: true })
  // Another process may have built the same meanwhile.
  if (existsSync(target)) rmSync(fresh, { recursive: true })
  else renameSync(fresh, target)
} catch (error) {
  rmSync(fresh, { recursive: true, force: true })
  throw error
}
// All but the latest of the others, which a running server may still load from.
const others = packed ? [] : readdirSync(all).filter((name) => name !== basename(target))
const times = others.map((name) => ({ name, time: statSync(join(all, name)).mtimeMs }))
for (const { name } of times.sort((a, b) => b.time - a.time).slice(1))
  rmSync(join(all, name), { recursive: true })
console.log(`Built the program in ${((Date.now() - began) / 1000).toFixed(1)} s.`)
