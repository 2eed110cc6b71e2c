/** A file that should hold a block, and what it exports. */
export interface BlockModule {
  /** Its folder. */
  readonly group: string
  readonly file: string
  readonly exported: unknown
}

/**
 * All blocks where the program is bundled, and no folder can be read for them: `scripts/build-program.mjs` puts the list
 * of those that are in the folder in place of this file.
 */
export const bundledBlocks: readonly BlockModule[] | undefined = undefined
