/** The name of a storage in addresses and expressions, made from what a person calls it: `Über uns` → `uber_uns`. */
export function storageName(label: string): string {
  const plain = label.normalize('NFD').replace(/\p{M}/gu, '').replace(/ß/g, 'ss').toLowerCase()
  const name = plain
    .replace(/[^a-z0-9_-]+/g, '_')
    .replace(/^[^a-z]+/, '')
    .replace(/_+$/, '')
  return name.slice(0, 63)
}
