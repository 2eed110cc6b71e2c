import type { ComponentProps } from 'react'

/** Of a field for a file: the same file can be chosen again, after it was changed on the disk. A browser says nothing otherwise. */
export const chosenAnew: ComponentProps<'input'> = {
  onClick: (event) => {
    event.currentTarget.value = ''
  },
}
