/** What the address gives a screen: the `:names` of its path. */
export type ScreenProps = { readonly params: Readonly<Record<string, string>> }
