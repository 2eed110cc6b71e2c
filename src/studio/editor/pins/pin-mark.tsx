import { memo } from 'react'
import type { PinType } from '../../../shared/pin-type.ts'
import { pinLooks, shapePaths } from './pin-look.ts'
import './pin-colors.css'

interface PinMarkProps {
  readonly type: PinType
  /** Drawn full: a wire is at it, or a value. */
  readonly full?: boolean
  readonly size?: number
}

/** The sign of a pin's type: a shape of its own in the colour of its family. Words beside it say the same. */
export const PinMark = memo(function PinMark({ type, full = true, size = 12 }: PinMarkProps) {
  const { shape, color } = pinLooks[type]
  return (
    <svg
      aria-hidden="true"
      className={`pin-mark pin-${color}${full ? ' pin-full' : ''}`}
      width={size}
      height={size}
      viewBox="0 0 12 12"
    >
      <path d={shapePaths[shape]} fillRule="evenodd" />
    </svg>
  )
})
