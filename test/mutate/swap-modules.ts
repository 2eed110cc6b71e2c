/** Loads sources of this process changed, without writing anything: Node asks here what a module's text is. */
import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'

const changed = new Map<string, string>()
const blocks = /\/src\/blocks\/[^?]*\.ts$/
/** Holds the class of errors that runs know by `instanceof`: there must be one of it. */
const shared = /\/src\/blocks\/block\.ts$/
const inVitestsPlace = new URL('vitest-in-node.ts', import.meta.url).href

/** Before the first import of a source. `texts`: other texts of files, by URL, from their first import on. */
export function swapModules(texts: ReadonlyMap<string, string>): void {
  for (const [url, text] of texts) changed.set(url, text)
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier === 'vitest' && context.parentURL !== inVitestsPlace) return next(inVitestsPlace, context)
      const found = next(specifier, context)
      const mutant = /\?mutant=\d+$/.exec(context.parentURL ?? '')?.[0]
      if (mutant === undefined || !blocks.test(found.url) || shared.test(found.url)) return found
      return { ...found, url: `${found.url}${mutant}` }
    },
    load(url, context, next) {
      const source = changed.get(url)
      return source === undefined
        ? next(url, context)
        : { format: 'module-typescript', source, shortCircuit: true }
    },
  })
}

let count = 0

/**
 * What a block's file exports when one file has another text: the file itself, or one below src/blocks that it imports.
 * All blocks' code in between is loaded once more, and nothing else.
 */
export async function importChanged(block: string, file: string, text: string): Promise<unknown> {
  const mutant = `?mutant=${count++}`
  const url = `${pathToFileURL(file).href}${mutant}`
  changed.set(url, text)
  try {
    const module: { readonly default?: unknown } = await import(`${pathToFileURL(block).href}${mutant}`)
    return module.default
  } finally {
    changed.delete(url)
  }
}
