/** A backup as one tar file, read while it is sent: nothing is written, and only one file is open at a time. */
import { type FileHandle, open, opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { ASSETS, MANIFEST, SUMMARY } from './backup-manifest.ts'

const BLOCK = 512

/**
 * The files of a backup below a folder of its name. What is no plain file, such as a link to somewhere else, is left out.
 * Throws where a file is shorter than it was, so that a half one never looks whole.
 */
export async function* backupArchive(folder: string, name: string, made: number): AsyncGenerator<Buffer> {
  for (const file of ['quoin.db', MANIFEST, SUMMARY]) yield* entry(folder, name, file, made)
  yield* entriesBelow(folder, name, ASSETS, made)
  yield Buffer.alloc(2 * BLOCK)
}

async function* entriesBelow(root: string, name: string, path: string, made: number): AsyncGenerator<Buffer> {
  const folder = await opendir(join(root, path)).catch(() => undefined)
  // A backup without files has no folder for them. What is iterated is closed at the end, also when nothing is read any more.
  for await (const found of folder ?? []) {
    const below = `${path}/${found.name}`
    if (found.isDirectory()) yield* entriesBelow(root, name, below, made)
    else if (found.isFile()) yield* entry(root, name, below, made)
  }
}

async function* entry(root: string, name: string, path: string, made: number): AsyncGenerator<Buffer> {
  let file: FileHandle | undefined
  try {
    file = await open(join(root, path), 'r')
    const { size } = await file.stat()
    yield tarHeader(`${name}/${path}`, size, made)
    let read = 0
    if (size > 0)
      for await (const chunk of file.createReadStream({ autoClose: false, end: size - 1 })) {
        read += chunk.length
        yield chunk
      }
    if (read !== size) throw new Error(`${path} of the backup ${name} ended after ${read} of ${size} bytes.`)
    if (size % BLOCK > 0) yield Buffer.alloc(BLOCK - (size % BLOCK))
  } finally {
    await file?.close()
  }
}

/** As POSIX says (`ustar`); a size above 8 GiB in binary, as all readers of today know it. */
export function tarHeader(path: string, size: number, made: number): Buffer {
  const header = Buffer.alloc(BLOCK)
  const [prefix, name] = split(path)
  header.write(name, 0)
  header.write('0000600\0' + '0000000\0' + '0000000\0', 100)
  if (size < 8 ** 11) header.write(`${size.toString(8).padStart(11, '0')}\0`, 124)
  else {
    header.writeUInt8(0x80, 124)
    header.writeBigUInt64BE(BigInt(size), 128)
  }
  header.write(`${made.toString(8).padStart(11, '0')}\0`, 136)
  header.write(' '.repeat(8), 148)
  header.write('0', 156)
  header.write('ustar\0' + '00', 257)
  header.write(prefix, 345)
  const sum = header.reduce((all, byte) => all + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return header
}

/** The name of a file has 100 bytes, and the folders before it 155 more. */
function split(path: string): readonly [prefix: string, name: string] {
  if (Buffer.byteLength(path) <= 100) return ['', path]
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)]
    if (Buffer.byteLength(name) <= 100 && Buffer.byteLength(prefix) <= 155) return [prefix, name]
  }
  throw new Error(`The name ${path} is too long for a tar file.`)
}
