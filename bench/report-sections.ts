import { withSection } from './report-memory.ts'

/** The page with the sections of `before` behind it whose headings it does not have. */
export function keepingSections(page: string, before: string): string {
  const [, ...sections] = `\n${before}`.split(/\n(?=## )/)
  return sections
    .filter((section) => !`${page}\n`.includes(`\n${section.split('\n', 1)[0]}\n`))
    .reduce((whole, section) => withSection(whole, `${section.trimEnd()}\n`), page)
}
