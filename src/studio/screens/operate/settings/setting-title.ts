import { wordsOfField } from '../../../../shared/fields/field-names.ts'

/** `QUOIN_PUBLIC_URL` → `Public URL`. */
export function settingTitle(name: string): string {
  const words = wordsOfField(name.replace(/^QUOIN_/, '').toLowerCase())
  return words.replace(/\b(url|cors|s3|tls)\b/gi, (word) => word.toUpperCase())
}
