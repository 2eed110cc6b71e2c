/** The pages of `docs/` for agents: found by words, and read as resources. They are read with the first request for one of them. */
import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fileSchemaNames } from '../applications/file-schemas.ts'

const folder = fileURLToPath(new URL('../../docs/', import.meta.url))
/** Characters of an excerpt. */
const EXCERPT = 400
const MOST_WORDS = 10

interface Page {
  /** Without `.md`. */
  readonly name: string
  readonly title: string
  readonly text: string
}

interface Section {
  readonly page: string
  readonly heading: string
  /** Character of the page at which it begins: the `offset` with which it is read. */
  readonly offset: number
  readonly text: string
  readonly lower: string
}

interface Documentation {
  readonly pages: readonly Page[]
  readonly sections: readonly Section[]
}

let read: Promise<Documentation> | undefined

export function documentation(): Promise<Documentation> {
  read ??= readPages()
  return read
}

async function readPages(): Promise<Documentation> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.md')).sort()
  const pages = await Promise.all(
    names.map(async (file) => {
      const text = await readFile(join(folder, file), 'utf8')
      const name = basename(file, '.md')
      return { name, title: /^# (.+)$/m.exec(text)?.[1] ?? name, text }
    }),
  )
  return { pages, sections: pages.flatMap(sectionsOf) }
}

function sectionsOf({ name, title, text }: Page): readonly Section[] {
  const starts = [0, ...Array.from(text.matchAll(/\n#{2,3} /g), ({ index }) => index + 1)]
  return starts.map((offset, at) => {
    const part = text.slice(offset, starts[at + 1])
    const [first = ''] = part.split('\n', 1)
    const heading = first.replace(/^#+ /, '') || title
    return { page: name, heading, offset, text: part, lower: part.toLowerCase() }
  })
}

export interface FoundSection {
  readonly page: string
  readonly heading: string
  readonly offset: number
  readonly excerpt: string
}

/** Sections that have each of the words, or as many of them as any section has; those with a word in their heading come first. */
export async function findSections(
  text: string,
  most: number,
): Promise<{ readonly found: number; readonly sections: readonly FoundSection[] }> {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean).slice(0, MOST_WORDS)
  const { sections } = await documentation()
  const scored = sections
    .map((section) => ({ section, score: scoreOf(section, words) }))
    .filter(({ score }) => score >= 100)
  const best = Math.max(0, ...scored.map(({ score }) => Math.floor(score / 100)))
  const found = scored
    .filter(({ score }) => Math.floor(score / 100) === best)
    .toSorted((a, b) => b.score - a.score)
  const shown = found.slice(0, most).map(({ section: { page, heading, offset, text: whole, lower } }) => {
    const at = Math.max(0, lower.indexOf(words[0] ?? '') - EXCERPT / 4)
    return { page, heading, offset, excerpt: whole.slice(at, at + EXCERPT) }
  })
  return { found: found.length, sections: shown }
}

/** 100 for each word that the section has, and a little for those in its heading. */
function scoreOf({ heading, lower }: Section, words: readonly string[]): number {
  const title = heading.toLowerCase()
  return words.reduce(
    (score, word) => score + (lower.includes(word) ? 100 : 0) + (title.includes(word) ? 5 : 0),
    0,
  )
}

/** https://llmstxt.org: what there is to read. */
export async function llmsText(): Promise<string> {
  const { pages } = await documentation()
  const lines = pages.map(({ name, title }) => `- [${title}](quoin://docs/${name}.md)`)
  return [
    '# Quoin',
    '',
    '> Build APIs, jobs and internal pages from blocks: one process, one command, no other server.',
    '',
    '## Docs',
    '',
    ...lines,
    '',
    '## Schemas of files',
    '',
    ...fileSchemaNames.map((name) => `- [${name}](quoin://schemas/${name}.json)`),
    '',
  ].join('\n')
}
