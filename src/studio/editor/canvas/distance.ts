/** How far away the drawing is, which decides what of a block is drawn. */
import { useStore } from '@xyflow/react'
import { createContext } from 'react'

/** `far`: names of pins and values are too small to read. `farthest`: a pin is smaller than 6 pixels, and none is drawn. */
export type Distance = 'near' | 'far' | 'farthest'

/** Zooms below which it is so far. */
const FAR = 0.45
const FARTHEST = 0.25

/** One for all blocks: each of 500 that asked the canvas itself would be asked again in each frame of a pan. */
export const DistanceContext = createContext<Distance>('near')

export function useDistance(): Distance {
  return useStore(({ transform: [, , zoom] }) => (zoom < FARTHEST ? 'farthest' : zoom < FAR ? 'far' : 'near'))
}
