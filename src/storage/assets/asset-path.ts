/** Names and directories of assets. They are never paths on disk; they are parts of addresses, so they are checked all the same. */
const LONGEST = 255

/** What is wrong with a file's name, in words that finish "the name …", or undefined. */
export function assetNameProblem(name: string): string | undefined {
  if (name.includes('/')) return 'must not hold a slash; use the directory for that'
  return partProblem(name) ?? lengthProblem(name)
}

/** What is wrong with a directory such as `public/images`, in words that finish "the directory …", or undefined. */
export function assetDirectoryProblem(directory: string): string | undefined {
  for (const part of directory.split('/')) {
    const problem = partProblem(part)
    if (problem) return problem
  }
  return lengthProblem(directory)
}

/** The path below `/static/` at which any client can read the asset, or undefined if its directory is private. */
export function publicPath(directory: string, name: string): string | undefined {
  const [root, ...rest] = directory.split('/')
  return root === 'public' ? [...rest, name].join('/') : undefined
}

function partProblem(part: string): string | undefined {
  if (part === '') return 'is empty, or has an empty part'
  if (part === '.' || part === '..') return 'must not hold . or .. as a part'
  if (part.includes('\\')) return 'must not hold a backslash'
  if (part.trim() !== part) return 'must not begin or end with a space'
  // Control and format characters: those that turn the direction of text make exe.txt of txt.exe.
  return !part.isWellFormed() || /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(part)
    ? 'must not hold control or invisible characters'
    : undefined
}

function lengthProblem(text: string): string | undefined {
  return Buffer.byteLength(text) > LONGEST ? `must have at most ${LONGEST} bytes` : undefined
}
