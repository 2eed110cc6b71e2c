/**
 * Images made smaller or into another format, by sharp (libvips): off the event loop, two at a time. sharp is an optional
 * dependency of 30 MB, loaded with the first image.
 *
 * What comes in is hostile: only the loaders of five formats are open (an SVG that calls itself PNG is refused, not
 * rendered), an image has at most 50 million pixels (200 MB while it is decoded), and 20 s.
 */
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type SharpModule from 'sharp'
import { boundedQueue } from '../../shared/cooperative.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { ImageFormat, ImageRequest } from '../../shared/files/image-request.ts'

export interface ConvertedImage {
  readonly bytes: Buffer
  /** Media type. */
  readonly type: string
  readonly width: number
  readonly height: number
}

export interface Images {
  /**
   * Turned as its EXIF orientation says, in sRGB, without any metadata; of an animation the first frame. INVALID_QUERY for
   * what is no image, or too large a one; UNAVAILABLE while too many wait, and where sharp is not installed.
   */
  convert(source: () => Readable, size: number, requested: ImageRequest): Promise<ConvertedImage>
  /** Whether sharp is there. */
  isReady(): Promise<boolean>
}

const MIB = 1024 * 1024
export const MOST_IMAGE_BYTES = 32 * MIB
const MOST_PIXELS = 50_000_000
const SECONDS = 20
const QUALITY = 80
const LOADERS = ['Jpeg', 'Png', 'Webp', 'Heif', 'Nsgif'].map((name) => `VipsForeignLoad${name}`)

type Sharp = typeof SharpModule

/** `load` imports sharp. */
export function openImages(load: () => Promise<{ default: Sharp }> = () => import('sharp')): Images {
  let opened: Promise<Sharp> | undefined
  const turn = boundedQueue({
    ...{ atOnce: 2, waiting: 200, retryAfter: 2 },
    refusal: 'Too many images are being converted right now. Try again soon.',
  })
  const open = () => {
    opened ??= openSharp(load)
    // Installed meanwhile: the next request looks again.
    opened.catch(() => {
      opened = undefined
    })
    return opened
  }
  return {
    async convert(source, size, requested) {
      if (size > MOST_IMAGE_BYTES) throw refused(`has more than ${MOST_IMAGE_BYTES / MIB} MiB`)
      const sharp = await open()
      return turn(async () => convert(sharp, await buffer(source()), requested))
    },
    isReady: () =>
      open().then(
        () => true,
        () => false,
      ),
  }
}

async function openSharp(load: () => Promise<{ default: Sharp }>): Promise<Sharp> {
  const { default: sharp } = await load().catch((error: unknown) => {
    throw new QuoinError(
      'UNAVAILABLE',
      'Images cannot be converted: the package sharp is not installed, or not for this machine. Run npm install sharp beside Quoin.',
      { cause: error },
    )
  })
  // One thread for each image, and no decoded image in memory once it is done.
  sharp.concurrency(1)
  sharp.cache(false)
  sharp.block({ operation: ['VipsForeignLoad'] })
  sharp.unblock({ operation: LOADERS })
  return sharp
}

async function convert(sharp: Sharp, source: Buffer, requested: ImageRequest): Promise<ConvertedImage> {
  const { width, height, fit = 'inside' } = requested
  try {
    const image = sharp(source, { limitInputPixels: MOST_PIXELS, failOn: 'error', sequentialRead: true })
    const { format: found = '' } = await image.metadata()
    const sized = image.autoOrient()
    if (width !== undefined || height !== undefined)
      sized.resize({ width, height, fit, withoutEnlargement: true })
    const format = requested.format ?? ownFormat(found)
    encode(sized, format, requested.quality ?? QUALITY)
    const { data, info } = await sized.timeout({ seconds: SECONDS }).toBuffer({ resolveWithObject: true })
    return { bytes: data, type: `image/${format}`, width: info.width, height: info.height }
  } catch (error) {
    const reason = error instanceof Error ? error.message : ''
    if (reason.includes('pixel limit')) throw refused('has more than 50 million pixels', error)
    if (reason.includes('timeout')) throw refused(`takes more than ${SECONDS} s to convert`, error)
    throw refused('cannot be read as JPEG, PNG, WebP, AVIF or GIF', error)
  }
}

/** A format that it can be written in. */
function ownFormat(found: string): ImageFormat {
  if (found === 'heif') return 'avif'
  return found === 'jpeg' || found === 'webp' ? found : 'png'
}

function encode(image: ReturnType<Sharp>, format: ImageFormat, quality: number): void {
  if (format === 'jpeg') image.flatten({ background: '#ffffff' }).jpeg({ quality, mozjpeg: true })
  else if (format === 'png') image.png()
  else if (format === 'webp') image.webp({ quality })
  // More effort takes seconds for some percent of the size.
  else image.avif({ quality, effort: 2 })
}

function refused(what: string, cause?: unknown): QuoinError {
  return new QuoinError('INVALID_QUERY', `The image ${what}.`, { cause })
}
