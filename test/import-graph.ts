/** What files import, also types and what is loaded later, and what is wrong with it. */
import { dirname, join } from 'node:path/posix'
import ts from 'typescript'

/** From a file to a file, both below the root, or to a package. Modules of Node have `node:` before their name. */
export interface Import {
  readonly from: string
  readonly to: string
}

/** What an import may not be, as patterns of paths. */
export interface ImportRule {
  readonly name: string
  readonly from: { readonly path: string; readonly pathNot?: string }
  readonly to: { readonly path: string; readonly pathNot?: string }
}

const TESTS = '\\.test\\.ts$'

/** What holds besides the walls of folders. */
export const commonRules: readonly ImportRule[] = [
  {
    name: 'shared runs in a browser',
    from: { path: '^src/shared/', pathNot: TESTS },
    to: { path: '^node:' },
  },
  {
    // Which database it is, is decided in one place.
    name: 'only the root knows an engine',
    from: {
      path: '^src/',
      pathNot: `^src/(quoin/open-database\\.ts|cli/data/run-restore\\.ts|storage/(sqlite|postgres|copy)/)|${TESTS}`,
    },
    to: { path: '^src/storage/(sqlite|postgres)/' },
  },
  {
    name: 'production does not import tests',
    from: { path: '^src/', pathNot: TESTS },
    to: { path: `^(test|bench)/|${TESTS}` },
  },
]

/**
 * Imports of sources by path. TypeScript scans them for the words `import` and `export` without parsing them: all of `src` in 1 s
 * of processor time instead of 8. A torture suite compares what it finds with another tool.
 */
export function importsOf(sources: ReadonlyMap<string, string>): readonly Import[] {
  return [...sources].flatMap(([from, text]) =>
    ts
      .preProcessFile(text, true, true)
      .importedFiles.map(({ fileName }) => ({ from, to: targetOf(from, fileName) })),
  )
}

function targetOf(from: string, name: string): string {
  // Vite has words behind a question mark: how a file is loaded.
  if (name.startsWith('.')) return join(dirname(from), name.replace(/\?.*/, ''))
  return name
}

/** `rule: from → to` for each import that breaks one. */
export function brokenRules(imports: readonly Import[], rules: readonly ImportRule[]): readonly string[] {
  const compiled = rules.map(({ name, from, to }) => ({ name, from: matcher(from), to: matcher(to) }))
  const byFile = Map.groupBy(imports, ({ from }) => from)
  return [...byFile].flatMap(([file, own]) =>
    compiled
      .filter(({ from }) => from(file))
      .flatMap(({ name, to }) =>
        own.filter((one) => to(one.to)).map((one) => `${name}: ${file} → ${one.to}`),
      ),
  )
}

function matcher({ path, pathNot }: ImportRule['to']): (file: string) => boolean {
  const is = new RegExp(path)
  const isNot = pathNot === undefined ? undefined : new RegExp(pathNot)
  return (file) => is.test(file) && !isNot?.test(file)
}

/**
 * Files in circles of imports, and between two circles: they are one file. Types count too. What imports nothing of the rest is
 * taken away until nothing more can be, and then what nothing of the rest imports.
 */
export function filesInCircles(imports: readonly Import[]): readonly string[] {
  const rest = peeled(
    new Set(imports.map(({ from }) => from)),
    Map.groupBy(imports, ({ from }) => from),
    'to',
  )
  return [
    ...peeled(
      rest,
      Map.groupBy(imports, ({ to }) => to),
      'from',
    ),
  ].toSorted()
}

function peeled(
  files: ReadonlySet<string>,
  byFile: ReadonlyMap<string, readonly Import[]>,
  end: keyof Import,
): ReadonlySet<string> {
  const rest = new Set(files)
  for (let before = 0; before !== rest.size; ) {
    before = rest.size
    for (const file of rest) if (!byFile.get(file)?.some((one) => rest.has(one[end]))) rest.delete(file)
  }
  return rest
}
