import type { ComponentProps } from 'react'

/** Of a field for a file: the same file can be chosen again after it was changed on the disk. Without this a browser reports no change. */
export const sameFileAgain: ComponentProps<'input'> = {
  onClick: (event) => {
    event.currentTarget.value = ''
  },
}
