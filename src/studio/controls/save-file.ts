import type { ComponentProps } from 'react'

/** Gives the user a file to keep. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

/** A name that every file system takes. */
export function fileName(words: string, ending: string): string {
  const plain = words
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
  return `${plain || 'quoin'}.${ending}`
}

/** Of a field for a file: the same file can be chosen again after it was changed on the disk. Without this a browser reports no change. */
export const sameFileAgain: ComponentProps<'input'> = {
  onClick: (event) => {
    event.currentTarget.value = ''
  },
}

/** The address of a list with a record of it open beside it; what the list shows stays. */
export function openAddress(path: string, words: URLSearchParams, guid: string): string {
  const next = new URLSearchParams(words)
  next.set('open', guid)
  return `${path}?${next}`
}
