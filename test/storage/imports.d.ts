declare module '*.gz?inline' {
  const dataUrl: string;
  export default dataUrl;
}

declare module '*.sql?raw' {
  const text: string;
  export default text;
}
