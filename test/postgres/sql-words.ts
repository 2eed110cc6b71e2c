/** Which words of SQL the sources for PostgreSQL use, beyond those of every database, read from their statements. */
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import ts from 'typescript'

/** Word → the files that use it. A word is a keyword, the name of a function, a cast such as `::json`, or an operator. */
export type SqlWords = ReadonlyMap<string, ReadonlySet<string>>

const root = join(import.meta.dirname, '..', '..')
/** They speak to SQLite. */
const otherEngine = new Set(['node-folder.ts', 'copy-source.ts'])
const WORDS = /\b[A-Z]{2,}\b|\b[a-z_][a-z_0-9]*(?=\()|::[a-z_]+(?:\[\])?|#>>|->|@@/g

/** What SQL of any kind has, and names of our own subqueries. */
const standard = new Set(
  `SELECT FROM WHERE GROUP BY HAVING ORDER ASC DESC LIMIT OFFSET AS AND OR NOT IN IS NULL TRUE FALSE EXISTS BETWEEN CASE WHEN
  THEN ELSE END DISTINCT UNION ALL JOIN LEFT CROSS ON USING WITH INSERT INTO VALUES UPDATE SET DELETE CREATE TABLE INDEX DROP
  ALTER DATABASE OWNER SQL ADD COLUMN DEFAULT UNIQUE PRIMARY KEY CHECK REFERENCES CASCADE IF BEGIN COMMIT ROLLBACK TO FOR OF COLLATE
  count sum min max coalesce nullif abs floor ln left btrim substr greatest extract items wanted scored`.split(
    /\s+/,
  ),
)

export function wordsOfSql(text: string): string[] {
  const bare = text.replace(/--.*$/gm, '').replace(/'(?:[^']|'')*'/g, "''")
  return [...bare.matchAll(WORDS)].map(([word]) => word).filter((word) => !standard.has(word))
}

export function sqlWords(): SqlWords {
  const found = new Map<string, Set<string>>()
  const files = globSync('src/storage/{postgres/**,copy}/*.{ts,sql}', { cwd: root })
  for (const file of files.filter((one) => !one.includes('.test.') && !otherEngine.has(basename(one))))
    for (const text of sqlTexts(file))
      for (const word of wordsOfSql(text)) found.set(word, (found.get(word) ?? new Set()).add(file))
  return found
}

function sqlTexts(file: string): string[] {
  const source = readFileSync(join(root, file), 'utf8')
  if (file.endsWith('.sql')) return [source]
  const texts: string[] = []
  const visit = (node: ts.Node): void => {
    const text = literalText(node)
    // A word alone is a code of an error or a name.
    if (text !== undefined && !/^[A-Z_]*$/.test(text)) texts.push(text)
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true))
  return texts
}

/** Code in a template has no part in it. */
function literalText(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text
  if (!ts.isTemplateExpression(node)) return undefined
  return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join(' ')
}
