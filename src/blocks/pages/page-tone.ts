import type { Tone } from '../../shared/pages/page-content.ts'

/** What a message or a badge is about, for pins that let a builder choose. */
export const tones: readonly Tone[] = ['neutral', 'info', 'success', 'warning', 'danger']

/** Of a pin with these choices. */
export function toneOf(text: string): Tone {
  return tones.find((tone) => tone === text) ?? 'neutral'
}
