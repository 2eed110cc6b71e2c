/** The look of an application's pages: what the content of a page template says, as JSON. */

export interface TemplateLink {
  readonly label: string
  readonly href: string
  /** Links with the same word in a row stand under it. */
  readonly group?: string
}

export interface TemplateSettings {
  /** Where the navigation stands on wide screens: a bar on top, or a column at the side. */
  readonly layout: 'top' | 'side'
  /** Of the content: for reading, for most pages, or the whole window. */
  readonly width: 'narrow' | 'normal' | 'full'
  readonly brand: {
    readonly label: string
    readonly href: string
    /** Address of an image of our own. */
    readonly logo?: string
  }
  readonly navigation: readonly TemplateLink[]
  readonly footer?: string
  /** BCP 47: what the pages are written in, whatever the visitor's browser asks for. */
  readonly language?: string
  readonly direction?: 'ltr' | 'rtl'
  /** Whether the name of the signed-in user, sign-in and sign-out are shown. */
  readonly account: boolean
  /** Of Quoin's own texts on pages, by language and key. */
  readonly words?: Readonly<Record<string, Readonly<Record<string, string>>>>
}

export const defaultTemplate: TemplateSettings = {
  layout: 'top',
  width: 'normal',
  brand: { label: 'Quoin', href: '/' },
  navigation: [],
  account: true,
}
