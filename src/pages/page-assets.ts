/**
 * The files that pages need: one style sheet, put together from `theme/`, and the modules of `browser/` as they are. They
 * stand in a folder named by a hash of all of them, so that a browser may keep them for ever, and modules find each other.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Compressible, compressible } from './compressible.ts'

export interface PageAsset extends Compressible {
  /** Below `/_pages/`: `<hash>/page.css`. */
  readonly name: string
  readonly type: string
}

/** Addresses of what every page loads. */
export interface PageFiles {
  readonly style: string
  readonly script: string
  readonly icon: string
  /** What the script imports; named in the page, so that the browser need not find out one by one. */
  readonly modules: readonly string[]
}

/** In the order of the cascade. */
const sheets = ['tokens', 'base', 'layout', 'button', 'form', 'content', 'table', 'overlay', 'conditions']

const entry = 'live.js'
/** Loaded by pages that have something for them. */
const lazy = ['passkeys.js', 'proof.js', 'proof-solver.js', 'proof-worker.js']
const imported = ['events.js', 'forms.js', 'modals.js', 'swap.js', 'tables.js', 'tabs.js', 'theme.js']

export async function readPageAssets(): Promise<{ assets: readonly PageAsset[]; files: PageFiles }> {
  const styles = await Promise.all(sheets.map((name) => source('theme', `${name}.css`)))
  const scripts = await Promise.all(
    [entry, ...imported, ...lazy].map(async (name) => ({ name, text: await source('browser', name) })),
  )
  const contents = [
    { name: 'icon.svg', type: 'image/svg+xml', text: await source('theme', 'icon.svg') },
    { name: 'page.css', type: 'text/css; charset=utf-8', text: withoutComments(styles.join('\n')) },
    ...scripts.map(({ name, text }) => ({
      name,
      type: 'text/javascript; charset=utf-8',
      text: withoutCommentLines(text),
    })),
  ]
  const hash = createHash('sha256')
  for (const { text } of contents) hash.update(text).update('\0')
  const folder = hash.digest('hex').slice(0, 12)
  const assets = contents.map(({ name, type, text }) => ({
    name: `${folder}/${name}`,
    type,
    // All of them at the start would be 100 ms of it, and 6 MB from then on.
    ...compressible(text, 11),
  }))
  const address = (name: string): string => `/_pages/${folder}/${name}`
  return {
    assets,
    files: {
      icon: address('icon.svg'),
      style: address('page.css'),
      script: address(entry),
      modules: imported.map(address),
    },
  }
}

function source(folder: string, name: string): Promise<string> {
  return readFile(join(import.meta.dirname, folder, name), 'utf8')
}

/** A module of our own as its formatter writes it, without the lines that are a comment and nothing else. */
function withoutCommentLines(script: string): string {
  const isComment = (line: string) =>
    line.startsWith('//') ||
    line.startsWith('*') ||
    (line.startsWith('/**') && (line.endsWith('*/') || !line.includes('*/')))
  return script
    .split('\n')
    .filter((line) => !isComment(line.trimStart()))
    .join('\n')
}

/** Comments and indentation of a style sheet of our own, in which no text holds either. */
function withoutComments(css: string): string {
  return css
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\n\s*/g, '\n')
    .trim()
}
