/** Stands for the API key in each snippet. */
export const KEY_PLACEHOLDER = 'YOUR_API_KEY';

/** For accounts without a license. No license has this key, so verifying it returns `not_found`. */
export const EXAMPLE_LICENSE_KEY = '7K3QD-9WZXA-M2RTB-H5NVE-40GPC';

export const snippets = (baseUrl: string, licenseKey: string) => {
  const url = `${baseUrl}licenses/verify`;
  const body = JSON.stringify({ license_key: licenseKey });
  return {
    curl: [
      `curl -X POST ${url} \\`,
      `  -H 'x-api-key: ${KEY_PLACEHOLDER}' \\`,
      `  -H 'content-type: application/json' \\`,
      `  -d '${body}'`,
    ].join('\n'),
    javascript: [
      `const response = await fetch('${url}', {`,
      `  method: 'POST',`,
      `  headers: { 'x-api-key': '${KEY_PLACEHOLDER}', 'content-type': 'application/json' },`,
      `  body: JSON.stringify(${body}),`,
      `});`,
      `const license = await response.json();`,
      `console.log(license.valid, license.status);`,
    ].join('\n'),
    python: [
      `import json`,
      `import urllib.request`,
      ``,
      `request = urllib.request.Request(`,
      `    "${url}",`,
      `    data=json.dumps(${body}).encode(),`,
      `    headers={"x-api-key": "${KEY_PLACEHOLDER}", "content-type": "application/json"},`,
      `)`,
      `with urllib.request.urlopen(request) as response:`,
      `    license = json.load(response)`,
      `print(license["valid"], license["status"])`,
    ].join('\n'),
  };
};
