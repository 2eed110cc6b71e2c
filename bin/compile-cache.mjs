/**
 * Keeps what Node makes of the program's files: TypeScript without its types, and V8's code of it. Without this each start
 * compiles 500 files again and holds the compiler of TypeScript in memory (17 MB) from then on. JavaScript, because this
 * comes before anything can be kept. Where the folder cannot be written, all is as without it, only slower.
 */
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/quoin-program', import.meta.url)))
