declare module 'virtual:gallery' {
  export const examples: readonly import('./example.ts').Example[];
}
