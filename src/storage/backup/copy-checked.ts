import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { copyFile, type Manifest, syncFolder } from './backup-manifest.ts'

/** Copies the files of a backup into a folder that exists. Throws when one is not what was backed up. */
export async function copyChecked(
  folder: string,
  manifest: Manifest,
  incoming: string,
  progress: (bytes: number) => void = () => undefined,
): Promise<void> {
  let done = 0
  const folders = new Set([incoming])
  for (const { path, bytes, sha256 } of manifest.files) {
    const target = join(incoming, path)
    await mkdir(dirname(target), { recursive: true, mode: 0o700 })
    folders.add(dirname(target))
    const copied = await copyFile(join(folder, path), target)
    if (copied.sha256 !== sha256 || copied.bytes !== bytes)
      throw new Error(
        `${join(folder, path)} is not what was backed up: its checksum differs. Nothing was restored.`,
      )
    done += bytes
    progress(done)
  }
  for (const name of folders) await syncFolder(name)
}
