/** What an image is to become: from the query of an address, or from the pins of a block. */

export const imageFormats = ['jpeg', 'png', 'webp', 'avif'] as const
export type ImageFormat = (typeof imageFormats)[number]

/** inside: the whole image, within the width and height. cover: all of the width and height, the edges cut off. */
export const imageFits = ['inside', 'cover'] as const
type ImageFit = (typeof imageFits)[number]

export interface ImageRequest {
  /** Pixels; without one of the two it follows from the other. An image is never enlarged. */
  readonly width?: number | undefined
  readonly height?: number | undefined
  readonly fit?: ImageFit | undefined
  /** That of the image if not said. */
  readonly format?: ImageFormat | undefined
  /** 1 to 100. PNG has none. */
  readonly quality?: number | undefined
}

/** Of one side, in pixels. */
export const LONGEST_SIDE = 3_840

/** Sizes of images that addresses give: a client that counts upwards makes no image for each number. */
const SIDES = [
  32,
  64,
  96,
  128,
  160,
  200,
  256,
  320,
  400,
  480,
  640,
  800,
  960,
  1200,
  1600,
  1920,
  2560,
  LONGEST_SIDE,
]
/** A larger AVIF takes seconds of a core: 8 s for 3,840 × 2,880. */
const LONGEST_AVIF = 1_920
const QUALITIES = [40, 60, 80, 95]

/** The next larger of the sizes, and the nearest of the qualities; undefined when nothing is wanted of the image. */
export function steppedImage({
  width,
  height,
  fit,
  format,
  quality,
}: ImageRequest): ImageRequest | undefined {
  if ([width, height, format, quality].every((one) => one === undefined)) return undefined
  const most = format === 'avif' ? LONGEST_AVIF : LONGEST_SIDE
  // An AVIF has a width in any case, so that none is larger.
  const wide = format === 'avif' && height === undefined ? (width ?? most) : width
  return {
    ...(wide !== undefined && { width: stepOf(wide, most) }),
    ...(height !== undefined && { height: stepOf(height, most) }),
    // Without both sides there is nothing to cut off.
    ...(fit === 'cover' && width !== undefined && height !== undefined && { fit }),
    ...(format && { format }),
    ...(quality !== undefined && { quality: nearest(quality) }),
  }
}

function stepOf(side: number, most: number): number {
  return Math.min(SIDES.find((one) => one >= side) ?? most, most)
}

function nearest(quality: number): number {
  return QUALITIES.reduce((best, one) => (Math.abs(one - quality) < Math.abs(best - quality) ? one : best))
}

/** Whether images of this media type are read. SVG is not: it is a document that a renderer would run. */
export function isReadableImage(type: string): boolean {
  return /^image\/(?:jpeg|png|webp|avif|gif)$/.test(type)
}
